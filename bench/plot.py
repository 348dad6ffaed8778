"""Panels in, a picture file out; no display is needed."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from bench.report import Panel

_MARKS = "osD^v"


def save_plot(panels: tuple[Panel, ...], path: Path) -> None:
    """Draw the panels side by side on the same scale; the format is the file's suffix, svg or png."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(5.5 * len(panels), 4.2), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axis, panel in zip(axes, panels, strict=True):
        for curve, mark in zip(panel.curves, _MARKS, strict=False):
            axis.plot(*zip(*curve.points, strict=True), marker=mark, label=curve.name)
        axis.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label, xscale="log", yscale="log")
        axis.yaxis.set_tick_params(labelleft=True)
        axis.grid(visible=True, which="major", alpha=0.3)
        axis.legend()
    with matplotlib.rc_context({"svg.hashsalt": "weft"}):  # the same figures give the same file
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
