"""Panels in, a picture file out; no display is needed."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.report import Panel

_MARKS = "osD^v"
_IN_A_ROW = 3


def save_plot(panels: tuple[Panel, ...], path: Path) -> None:
    """Draw the panels side by side on the same scale; the format is the file's suffix, svg or png."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = min(len(panels), _IN_A_ROW)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.5 * columns, 4.2 * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False, sharey=True).flat)
    for axis, panel in zip(axes, panels, strict=False):
        _draw(axis, panel)
    for axis in axes[len(panels) :]:
        axis.remove()
    with matplotlib.rc_context({"svg.hashsalt": "weft"}):  # the same figures give the same file
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _draw(axis: Axes, panel: Panel) -> None:
    for curve, mark in zip(panel.curves, _MARKS, strict=False):
        axis.plot(*zip(*curve.points, strict=True), marker=mark, label=curve.name)
    axis.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label, yscale="log")
    if panel.ticks:
        axis.set_xticks(range(len(panel.ticks)), panel.ticks)
    else:
        axis.set_xscale("log")
    axis.yaxis.set_tick_params(labelleft=True)
    axis.grid(visible=True, which="major", alpha=0.3)
    axis.legend()
