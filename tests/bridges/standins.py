"""Stand-ins for jaxls and teleop_xr, which are not on PyPI, written from their public sources for these tests.

They have the parts that a robot of teleop_xr meets, with the same names, signatures and habits: costs are pytrees whose
function is static and whose arguments are stacked with those of their kind and mapped over; values are looked up by
variables with traced ids; Jacobians are taken forward or in reverse, whichever is shorter, at a zero tangent; the solver
is Levenberg-Marquardt in one loop, by a dense Cholesky factorisation. What they leave out: sparse matrices, constraints,
custom Jacobians, printing.
"""

from __future__ import annotations

import dis
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import total_ordering
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import jax_dataclasses as jdc
import jaxlie
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.tree_util import default_registry

# jaxls --------------------------------------------------------------------------------------------


@total_ordering
class _Sortable(type):
    """Classes of variables are keys of dictionaries, which are pytrees: they have an order."""

    def __hash__(cls):
        return object.__hash__(cls)

    def __lt__(cls, other):
        return (cls.__name__, id(cls)) < (other.__name__, id(other))


@jdc.pytree_dataclass
class VarWithValue:
    variable: Any
    value: Any


@jdc.pytree_dataclass
class Var(metaclass=_Sortable):
    id: int | jax.Array
    default_factory: ClassVar[Callable[[], Any]]
    tangent_dim: ClassVar[int]

    def __init_subclass__(cls, *, default_factory: Callable[[], Any], **more: Any) -> None:
        assert not more
        cls.default_factory = staticmethod(default_factory)
        leaves = jax.tree.leaves(jax.eval_shape(default_factory))
        cls.tangent_dim = int(sum(np.prod(leaf.shape) for leaf in leaves))
        super().__init_subclass__()
        jdc.pytree_dataclass(cls)

    def with_value(self, value):
        return VarWithValue(self, value)


@jdc.pytree_dataclass
class VarValues:
    vals_from_type: dict[Any, Any]
    ids_from_type: dict[Any, jax.Array]

    @staticmethod
    def make(variables):
        ids, values = {}, {}
        for entry in variables:
            plain = isinstance(entry, Var)
            var = entry if plain else entry.variable
            index = jnp.atleast_1d(jnp.asarray(var.id))
            default = type(var).default_factory()
            value = jnp.broadcast_to(default, (*index.shape, *default.shape)) if plain else entry.value
            assert type(var) not in ids, "the stand-in takes one entry a class"
            order = jnp.argsort(index)
            ids[type(var)], values[type(var)] = index[order], value[order]
        return VarValues(values, ids)

    def __getitem__(self, var):
        assert isinstance(var, Var)
        if not isinstance(var.id, int) and var.id.ndim > 0:
            return jax.vmap(self.__getitem__)(var)
        index = jnp.searchsorted(self.ids_from_type[type(var)], var.id)
        return self.vals_from_type[type(var)][index]

    def retracted(self, tangent):
        flat, unravel = ravel_pytree(self.vals_from_type)
        return VarValues(unravel(flat + tangent), self.ids_from_type)


@jdc.pytree_dataclass
class Cost:
    compute_residual: jdc.Static[Callable[..., Any]]
    args: tuple[Any, ...]
    kind: jdc.Static[str] = "l2_squared"
    jac_mode: jdc.Static[str] = "auto"
    name: jdc.Static[str | None] = None

    @staticmethod
    def factory(compute_residual=None, *, kind="l2_squared", jac_mode="auto", name=None):
        def decorator(compute_residual):
            def inner(*args, **kwargs):
                def function(values, args, kwargs):
                    return compute_residual(values, *args, **kwargs)

                return Cost(function, (args, kwargs), kind, jac_mode, name or compute_residual.__name__)

            return inner

        return decorator if compute_residual is None else decorator(compute_residual)

    def variables(self):
        def below(part):
            if isinstance(part, Var):
                return [part]
            level = default_registry.flatten_one_level(part)
            return [] if level is None else [var for child in level[0] for var in below(child)]

        return below(self.args)

    def broadcast(self):
        """Leaves as arrays, as they are for a cost of one variable; whatever has no shape is refused."""
        leaves, tree = jax.tree.flatten(self)
        arrays = [jnp.array(leaf) if isinstance(leaf, int | float) else leaf for leaf in leaves]
        return jax.tree.unflatten(tree, [jnp.broadcast_to(leaf, leaf.shape) for leaf in arrays])


@jdc.pytree_dataclass
class AnalyzedCost:
    cost: Cost
    rows: jdc.Static[int]

    @staticmethod
    @jdc.jit
    def make(cost: Cost) -> AnalyzedCost:
        values = jax.eval_shape(VarValues.make, cost.variables())
        shape = jax.eval_shape(cost.compute_residual, values, *cost.args).shape
        return AnalyzedCost(cost, int(np.prod(shape)))

    def residual(self, values):
        return self.cost.compute_residual(values, *self.cost.args).flatten()


def _signature(function):
    """Functions of equal text and closures, as texts, are taken for one."""
    closure = tuple(sorted(str(cell.cell_contents) for cell in function.__closure__ or ()))
    return tuple((step.opname, step.argrepr) for step in dis.Bytecode(function)), closure


@jdc.pytree_dataclass
class LeastSquaresProblem:
    costs: Any
    variables: Any

    def analyze(self, use_onp: bool = False) -> AnalyzedProblem:
        functions: dict[Any, Any] = {}
        groups: dict[Any, list[Cost]] = {}
        for cost in self.costs:
            first = functions.setdefault(_signature(cost.compute_residual), cost.compute_residual)
            with jdc.copy_and_mutate(cost) as copy:
                copy.compute_residual = first
            cost = copy.broadcast()
            assert cost.variables(), f"no variables in {cost.name}"
            assert all(isinstance(v.id, int) or v.id.shape == () for v in cost.variables())
            shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves(cost))
            stacked = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], cost)
            groups.setdefault((jax.tree.structure(cost), shapes), []).append(stacked)
        stacks = [
            jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *groups[key])
            for key in sorted(groups, key=str)
        ]
        return AnalyzedProblem(tuple(jax.vmap(AnalyzedCost.make)(stack) for stack in stacks))


@jdc.pytree_dataclass
class TerminationConfig:
    max_iterations: jdc.Static[int] = 100
    cost_tolerance: float = 1e-5
    early_termination: jdc.Static[bool] = True


@jdc.pytree_dataclass
class AnalyzedProblem:
    stacks: tuple[AnalyzedCost, ...]

    def residuals(self, values):
        every = [jax.vmap(lambda cost: cost.residual(values))(stack) for stack in self.stacks]
        assert all(rows.ndim == 2 for rows in every)
        return jnp.concatenate([rows.reshape(-1) for rows in every])

    def jacobian(self, values, size):
        blocks = []
        for stack in self.stacks:
            take = jax.jacrev if stack.rows < size else jax.jacfwd

            def one(cost, take=take):
                return take(lambda tangent: cost.residual(values.retracted(tangent)))(jnp.zeros(size))

            blocks.append(jax.vmap(one)(stack).reshape(-1, size))
        return jnp.concatenate(blocks)

    def solve(
        self,
        initial_vals: VarValues,
        *,
        linear_solver: str = "conjugate_gradient",
        termination: TerminationConfig | None = None,
        verbose: bool = True,
    ) -> VarValues:
        assert linear_solver == "dense_cholesky"
        return self._solve(initial_vals, termination or TerminationConfig())

    @jdc.jit
    def _solve(self, initial_vals: VarValues, termination: TerminationConfig) -> VarValues:
        size = ravel_pytree(initial_vals.vals_from_type)[0].size

        def step(state):
            values, residuals, damping, tried, _ = state
            J = self.jacobian(values, size)
            H = J.T @ J
            factor = jax.scipy.linalg.cho_factor(H + damping * (jnp.eye(size) + jnp.diag(jnp.diag(H))))
            proposed = values.retracted(-jax.scipy.linalg.cho_solve(factor, J.T @ residuals))
            after = self.residuals(proposed)
            before, now = jnp.sum(residuals**2), jnp.sum(after**2)
            better = now < before
            pick = jax.tree.map(lambda new, old: jnp.where(better, new, old), (proposed, after), state[:2])
            still = ~better | (before - now > termination.cost_tolerance * before)
            return (*pick, jnp.where(better, damping / 2.0, damping * 2.0), tried + 1, still)

        start = (initial_vals, self.residuals(initial_vals), jnp.asarray(5e-4), 0, True)
        more = lambda state: (state[3] < termination.max_iterations) & state[4]  # noqa: E731
        return jax.lax.while_loop(more, step, start)[0]


def jaxls_module() -> types.ModuleType:
    module = types.ModuleType("jaxls")
    names = (Var, VarValues, Cost, LeastSquaresProblem, TerminationConfig)
    vars(module).update({entry.__name__: entry for entry in names})
    return module


# teleop_xr ----------------------------------------------------------------------------------------


class RobotVisConfig:
    def __init__(
        self, *, urdf_path, mesh_path=None, model_scale=1.0, initial_rotation_euler=(0.0, 0.0, 0.0)
    ) -> None:
        assert isinstance(urdf_path, str)
        assert mesh_path is None or isinstance(mesh_path, str)
        self.urdf_path, self.mesh_path, self.model_scale = urdf_path, mesh_path, model_scale
        self.initial_rotation_euler = [float(angle) for angle in initial_rotation_euler]


class Contract(ABC):
    """What every version of BaseRobot asks for."""

    @property
    @abstractmethod
    def joint_var_cls(self): ...

    @property
    def supported_frames(self):
        return {"left", "right", "head"}

    @abstractmethod
    def forward_kinematics(self, config): ...

    @abstractmethod
    def get_default_config(self): ...

    @abstractmethod
    def build_costs(self, target_L, target_R, target_Head, q_current=None): ...


class Newer(Contract):
    orientation = property(lambda self: jaxlie.SO3.identity())
    base_to_ros = property(lambda self: self.orientation)
    ros_to_base = property(lambda self: self.orientation.inverse())
    default_speed_ratio = property(lambda self: 1.0)

    @property
    @abstractmethod
    def actuated_joint_names(self): ...


class FirstBaseRobot(Contract):
    """The earliest, without a constructor."""

    @abstractmethod
    def get_vis_config(self): ...


class SwappingBaseRobot(Newer):
    """The one whose description is swapped after the robot is made."""

    def __init__(self, robot_description_override=None) -> None:
        self._robot_description_override = robot_description_override

    @property
    @abstractmethod
    def robot_description(self): ...

    @abstractmethod
    def get_vis_config(self): ...

    def override_robot_description(self, robot_description) -> None:
        self._robot_description_override = robot_description
        self._initialize_from_description(robot_description or self.robot_description)

    def _initialize_from_description(self, robot_description) -> None: ...


class BaseRobot(Newer):
    """The latest that is known."""

    model_scale = property(lambda self: 1.0)

    def __init__(self) -> None:
        self.urdf_path, self.mesh_path = "", None

    def get_vis_config(self): ...

    @abstractmethod
    def _load_default_urdf(self): ...


class PyrokiSolver:
    def __init__(self, robot) -> None:
        self.robot = robot
        self._jit_solve = jax.jit(self._solve_internal)

    def _solve_internal(self, target_L, target_R, target_Head, q_current):
        jaxls = sys.modules["jaxls"]
        costs = self.robot.build_costs(target_L, target_R, target_Head, q_current)
        joints = self.robot.joint_var_cls(jnp.array([0]))
        start = jaxls.VarValues.make([joints.with_value(q_current[jnp.newaxis, :])])
        found = (
            jaxls.LeastSquaresProblem(costs, [joints])
            .analyze()
            .solve(
                initial_vals=start,
                verbose=False,
                linear_solver="dense_cholesky",
                termination=jaxls.TerminationConfig(max_iterations=15),
            )
        )
        return found[joints][0]

    def solve(self, target_L, target_R, target_Head, q_current):
        return self._jit_solve(target_L, target_R, target_Head, q_current)


def teleop_xr_modules(base: type = BaseRobot) -> dict[str, types.ModuleType]:
    """Modules by name, to be put into `sys.modules`."""
    contents = {
        "teleop_xr": {},
        "teleop_xr.config": {"RobotVisConfig": RobotVisConfig},
        "teleop_xr.ik": {},
        "teleop_xr.ik.robot": {"BaseRobot": base},
        "teleop_xr.ik.solver": {"PyrokiSolver": PyrokiSolver},
    }
    modules = {name: types.ModuleType(name) for name in contents}
    for name, names in contents.items():
        vars(modules[name]).update(names)
    return modules
