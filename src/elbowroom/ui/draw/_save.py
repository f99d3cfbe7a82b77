"""Pictures to files: drawn in memory first, so that a full disk leaves no half of one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from ..._files import write_bytes
from ...errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE_FORMATS = (".png", ".svg", ".pdf")
"""What a plot can be written as; a rendered picture is PNG."""


def save_png(path: Path | str, image: Float[np.ndarray, "height width 3"]) -> None:
    """Writes a picture as PNG.

    Args:
        path: the file.
        image: values in [0, 1], or bytes.

    Raises:
        InputError: the name does not end in .png, or the place cannot be written.
    """
    from matplotlib.image import imsave

    path = check_picture(path, (".png",))
    buffer = io.BytesIO()
    imsave(buffer, image if image.dtype == np.uint8 else np.clip(image, 0.0, 1.0), format="png")
    write_bytes(path, buffer.getvalue())


def save_figure(figure: Figure, path: Path | str, dpi: int = 110, **options: Any) -> None:
    """Writes a plot without a display, as PNG, SVG or PDF.

    Args:
        figure: the plot.
        path: the file; its extension says the format.
        dpi: pixels per inch.
        options: as of matplotlib's `savefig`.

    Raises:
        InputError: another extension, or the place cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    path = check_picture(path, FIGURE_FORMATS)
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lower()[1:], dpi=dpi, **options)
    write_bytes(path, buffer.getvalue())


def check_picture(path: Path | str, formats: tuple[str, ...] = FIGURE_FORMATS) -> Path:
    """The path of a picture whose extension is one of those that can be written.

    Raises:
        InputError: it is another.
    """
    path = Path(path)
    if path.suffix.lower() not in formats:
        names = ", ".join(name[1:].upper() for name in formats)
        raise InputError(
            f"cannot write {path}: pictures are {names}, expected a name ending in {' or '.join(formats)}"
        )
    return path
