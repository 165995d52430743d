#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Prints a page with two of perf's flame graphs, one next to the other, callers above: the kernel's own user stacks, and kunwind's.

usage: perf-flames.py PAGE STOCK KUNWIND

PAGE is the folder with flame.js; STOCK and KUNWIND are from `perf script report flamegraph --format json`.
"""
import html
import json
import pathlib
import sys

HEAD = """<!DOCTYPE html>
<!-- SPDX-License-Identifier: GPL-2.0-only OR MIT -->
<html lang="en">
<head>
<meta charset="utf-8">
<title>perf record -g, without kunwind and with it</title>
<style>
:root { color-scheme: light dark; }
body { font-family: sans-serif; font-size: 13px; margin: 8px 12px; }
#graphs { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; align-items: start; }
h2 { font-size: 15px; }
.graph { overflow: clip; }
canvas { display: block; }
</style>
</head>
<body>
<div id="graphs">
"""


def samples(node, name, found=False):
    """All samples, and those whose stack has a function of that name."""
    found = found or node["n"] == name
    all_of_it, whole = node["v"], node["v"] if found else 0
    for child in node["c"]:
        more, whole_ones = samples(child, name, found)
        all_of_it += more
        whole += whole_ones
    return all_of_it, whole


def main():
    folder, *files = sys.argv[1:]
    out = sys.stdout
    out.write(HEAD)
    graphs = []
    for title, file in zip(("perf record -g", "perf record -g, kunwind-tracing loaded"), files):
        graph = json.loads(pathlib.Path(file).read_text())
        whole = "{1} of {0} samples from _start".format(*samples(graph, "_start"))
        out.write(f"<div><h2>{html.escape(title)}</h2><p>{whole}</p><div class=graph></div><p role=status></p></div>\n")
        print(f"{title}: {whole}", file=sys.stderr)
        graphs.append(graph)
    out.write("</div>\n")
    out.write(f"<script>{pathlib.Path(folder, 'flame.js').read_text()}</script>\n")
    # No name of a function may end the script.
    data = json.dumps(graphs).replace("<", "\\u003c")
    out.write(f"""<script>
const graphs = {data};
const percent = (part, all) => (100 * part / all).toFixed(2) + " %";
const node = from => ({{ name: from.n, value: from.v, children: from.c.map(node) }});
document.querySelectorAll(".graph").forEach((place, i) => {{
	const root = finishTree(node(graphs[i]));
	const said = place.nextElementSibling;
	const chart = new Flame(place, {{
		color: (each, dark) => `hsl(${{20 + each.name.length * 7 % 30}}, 70%, ${{dark ? 32 : 70}}%)`,
		select: each => {{
			said.textContent = each ? `${{each.name}}: ${{each.total}} samples, ${{percent(each.total, root.total)}}` : "";
		}},
		zoom: () => {{}},
	}});
	chart.show(root, false);
}});
</script>
</body>
</html>
""")


main()
