"""Pictures: what is nearer hides what is behind, glass lets it through, everything is in the frame."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.robot import _tessellate
from elbowroom.ui.draw import Camera, Picture, robot_picture, save_png

FRONT = Camera(azimuth_deg=0.0, elevation_deg=0.0, width=100, height=100)
RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def add_box(picture, size, offset, colour):
    data = _tessellate.box_mesh(size)
    picture.add_mesh(data.vertices + offset, data.faces, colour)


def test_the_nearer_box_hides_the_farther():
    for near, far, seen in ((RED, BLUE, 0), (BLUE, RED, 2)):
        picture = Picture()
        add_box(picture, (0.1, 2.0, 2.0), (-1.0, 0, 0), far)
        add_box(picture, (0.1, 1.0, 1.0), (1.0, 0, 0), near)  # the camera stands at +x
        centre = picture.draw(FRONT)[50, 50]
        assert centre[seen] > 0.3
        assert np.delete(centre, seen).max() == 0.0


def test_axes_of_the_picture():
    picture = Picture()
    add_box(picture, (0.2, 0.2, 0.2), (0, 0.9, 0.9), RED)
    add_box(picture, (0.2, 0.2, 0.2), (0, -0.9, -0.9), BLUE)
    image = picture.draw(FRONT)
    assert image[12, 88, 0] > 0.3  # +y is right and +z is up, seen from +x
    assert image[12, 88, 2] == 0.0
    assert image[88, 12, 2] > 0.3
    np.testing.assert_array_equal(image[0, 0], 1.0)


def test_spheres_are_see_through():
    picture = Picture()
    add_box(picture, (0.5, 0.5, 0.5), (0, 0, 0), BLUE)
    bare = picture.draw(FRONT)[50, 50]
    picture.add_sphere(np.zeros(3), 1.0, RED)
    veiled = picture.draw(FRONT)[50, 50]
    assert bare[0] == 0.0 < veiled[0] < 0.5
    assert 0.0 < veiled[2] < bare[2]


def test_the_robot_fills_the_picture(load, tmp_path):
    image = robot_picture(load("rh56")).draw(Camera(width=120, height=100))
    drawn = np.argwhere((image < 0.99).any(axis=2))
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    assert (low >= 3).all()
    assert (high <= [96, 116]).all()
    assert (high - low).max() >= 0.8 * 100
    save_png(tmp_path / "hand.png", image)
    assert (tmp_path / "hand.png").stat().st_size > 500
    with pytest.raises(InputError, match="cannot write"):
        save_png(tmp_path / "missing/hand.png", image)


def test_nothing_to_draw():
    with pytest.raises(InputError, match="nothing to draw"):
        Picture().draw(FRONT)


def test_a_pair_matrix_is_drawn_link_by_link_in_the_colours_of_its_reasons(model):
    from matplotlib.colors import to_hex

    from elbowroom.pairs import PairOptions, compute_pairs
    from elbowroom.ui.draw import plot_pairs
    from elbowroom.ui.draw._pairs import COLOURS

    pairs = compute_pairs(*model("teaarm"), PairOptions(samples=300, proof_boxes=100))
    axes = plot_pairs(pairs).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == list(pairs.link_names)
    (image,) = axes.images
    shown = image.to_rgba(image.get_array())
    for (a, b), found in pairs.entries.items():
        i, j = pairs.link_names.index(a), pairs.link_names.index(b)
        who = "checked, by meshes alone" if (a, b) in pairs.by_meshes else "checked, by spheres"
        kind = who if (a, b) in pairs.checked else found.reason
        assert to_hex(shown[i, j]) == to_hex(shown[j, i]) == COLOURS[kind]
    assert pairs.by_meshes
    assert "per cent of random configurations" in axes.get_xlabel()


def test_the_words_below_a_small_pair_matrix_are_inside_the_picture():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from elbowroom.pairs import PairEvidence, PairMatrix, PairReason
    from elbowroom.ui.draw import plot_pairs

    met = PairEvidence(PairReason.CHECKED, "met", samples=100, hits=3, buffer=0.02)
    figure = plot_pairs(
        PairMatrix("toy", ("forearm_link", "wrist_link"), {("forearm_link", "wrist_link"): met})
    )
    figure.set_dpi(130)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    box = figure.axes[0].xaxis.label.get_window_extent(canvas.get_renderer())
    assert "within 20 mm" in figure.axes[0].get_xlabel()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1  # noqa: PT018


def test_every_public_name_is_there():
    import elbowroom.ui.draw as draw

    assert sorted(draw.__all__) == sorted(draw._HOME)
    for name in draw.__all__:
        assert getattr(draw, name).__module__.startswith("elbowroom.ui.draw.")
