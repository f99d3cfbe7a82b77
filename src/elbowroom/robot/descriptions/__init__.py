"""Files that describe robots: where they are, and URDF, xacro, MJCF and SRDF read into joints, shapes and visuals."""
