"""The parts of LeRobot that the bridge meets, with the names, signatures and habits of releases 0.4.4 and 0.6.1.

Written for these tests from the public sources. Left out: cameras, calibration files, the command line's parser.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum


class ChoiceRegistry:
    """draccus: classes of configurations by name."""

    choices: dict[str, type] = {}  # noqa: RUF012

    @classmethod
    def register_subclass(cls, name):
        return lambda made: cls.choices.setdefault(name, made)

    @classmethod
    def get_choice_class(cls, name):
        return cls.choices[name]

    @classmethod
    def get_choice_name(cls, subclass):
        return next(name for name, made in cls.choices.items() if made is subclass)


@dataclass(kw_only=True)
class RobotConfig(ChoiceRegistry, ABC):
    id: str | None = None
    calibration_dir: str | None = None

    @property
    def type(self):
        return self.get_choice_name(self.__class__)


class Robot(ABC):
    config_class: type
    name: str

    def __init__(self, config):
        self.robot_type, self.id, self.calibration = self.name, config.id, {}

    @property
    @abstractmethod
    def observation_features(self): ...

    @property
    @abstractmethod
    def action_features(self): ...

    @property
    @abstractmethod
    def is_connected(self): ...

    @abstractmethod
    def connect(self, calibrate=True): ...

    @property
    @abstractmethod
    def is_calibrated(self): ...

    @abstractmethod
    def calibrate(self): ...

    @abstractmethod
    def configure(self): ...

    @abstractmethod
    def get_observation(self): ...

    @abstractmethod
    def send_action(self, action): ...

    @abstractmethod
    def disconnect(self): ...


def make_robot_from_config(config):
    module = importlib.import_module(config.__class__.__module__)
    return getattr(module, config.__class__.__name__.removesuffix("Config"))(config)


def decode(cls, raw_value):
    """draccus: a configuration of a mapping."""
    values = dict(raw_value)
    return cls.get_choice_class(values.pop("type"))(**values)


class TransitionKey(StrEnum):
    OBSERVATION = "observation"
    ACTION = "action"


class ProcessorStepRegistry:
    _registry: dict[str, type] = {}  # noqa: RUF012

    @classmethod
    def register(cls, name=None):
        def decorator(step):
            if name in cls._registry:
                raise ValueError(f"Processor step '{name}' is already registered.")
            cls._registry[name] = step
            return step

        return decorator

    @classmethod
    def get(cls, name):
        return cls._registry[name]

    @classmethod
    def unregister(cls, name):
        cls._registry.pop(name, None)


class ProcessorStep(ABC):
    _current_transition = None

    @property
    def transition(self):
        return self._current_transition

    @abstractmethod
    def __call__(self, transition): ...

    def get_config(self):
        return {}

    def reset(self):
        return None

    @abstractmethod
    def transform_features(self, features): ...


class RobotActionProcessorStep(ProcessorStep, ABC):
    @abstractmethod
    def action(self, action): ...

    def __call__(self, transition):
        self._current_transition = transition.copy()
        action = self._current_transition.get(TransitionKey.ACTION)
        if action is None or not isinstance(action, dict):
            raise ValueError(f"Action should be a RobotAction type (dict), but got {type(action)}")
        self._current_transition[TransitionKey.ACTION] = self.action(action.copy())
        return self._current_transition


def install(monkeypatch) -> None:
    """Puts the stand-in where LeRobot would be."""
    here = sys.modules[__name__]
    for name in ("draccus", "lerobot", "lerobot.robots", "lerobot.processor"):
        module = types.ModuleType(name)
        module.__dict__.update({key: value for key, value in vars(here).items() if not key.startswith("__")})
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(ChoiceRegistry, "choices", {})
    monkeypatch.setattr(ProcessorStepRegistry, "_registry", {})


class HollowTorchvision(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Lets the real LeRobot be imported where torchvision is not installed: nothing of it is called here."""

    def find_spec(self, name, path=None, target=None):
        return (
            importlib.machinery.ModuleSpec(name, self, is_package=True)
            if name.split(".")[0] == "torchvision"
            else None
        )

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        def get(name):
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {"__module__": module.__name__})

        module.__getattr__ = get
