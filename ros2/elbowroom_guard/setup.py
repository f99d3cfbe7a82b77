"""Build file of the ament_python package; elbowroom itself comes from pip."""

from setuptools import setup

NAME = "elbowroom_guard"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", ["launch/guard.launch.py"]),
        (f"share/{NAME}/config", ["config/guard.yaml"]),
    ],
    install_requires=["setuptools", "elbowroom"],
    license="Apache-2.0",
    entry_points={"console_scripts": [f"guard = {NAME}.node:main"]},
)
