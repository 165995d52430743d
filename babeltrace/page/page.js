// SPDX-License-Identifier: GPL-2.0-only OR MIT
"use strict";

// The data's shape is told in page.c.
const data = JSON.parse(document.getElementById("data").textContent);
const EVENTS = 0, TIME = 1;
const element = id => document.getElementById(id);
const parts = data.names.map(name => {
	const tab = name.lastIndexOf("\t");
	return [name.slice(0, tab), name.slice(tab + 1)];
});
const machines = new Set();
for (let i = 0; i < data.kinds.length; i += 2)
	machines.add(parts[data.kinds[i]][1]);

function processName(name)
{
	const [process, machine] = parts[name];

	return machines.size > 1 && machine ? machine + ": " + process : process;
}

// Suffixes are those of perf's folded stacks, and one for frames that are guessed.
const SORTS = { "_[k]": "kernel", "_[i]": "inlined" };
const GUESSED = "_[guessed]";

function frame(name)
{
	const [suffixed, module] = parts[name];
	const guessed = suffixed.endsWith(GUESSED);
	const text = guessed ? suffixed.slice(0, -GUESSED.length) : suffixed;
	const sort = SORTS[text.slice(-4)];

	return {
		name: (sort ? text.slice(0, -4) : text) + (guessed ? " [guessed]" : ""),
		module: module, sort: sort || "user", guessed: guessed,
	};
}

function formatTime(ns)
{
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
		if (ns >= size)
			return (ns / size).toFixed(3) + " " + unit;
	return ns + " ns";
}

function format(weight, value)
{
	if (weight === TIME)
		return formatTime(value);
	return value.toLocaleString("en") + (value === 1 ? " event" : " events");
}

function child(parent, key, make)
{
	let node = parent.known.get(key);

	if (!node) {
		node = make();
		node.value = 0;
		node.known = new Map();
		node.children = [];
		parent.known.set(key, node);
		parent.children.push(node);
	}
	return node;
}

// The tree of what the controls ask for; values are of a frame without its callees.
function tree(weight, group, process, event)
{
	const root = {
		name: "all", sort: "root", value: 0, known: new Map(), children: [],
	};

	for (let i = 0; i < data.samples.length; i += 4) {
		const kind = 2 * data.samples[i];
		const ofProcess = data.kinds[kind], ofEvent = data.kinds[kind + 1];
		const value = data.samples[i + 2 + weight];
		const path = [];
		let at = root;

		if (!value || (process !== "" && ofProcess !== Number(process)) ||
		    (event !== "" && ofEvent !== Number(event)))
			continue;
		if (group === "process")
			at = child(at, -1 - ofProcess, () => ({
				name: processName(ofProcess), sort: "process",
			}));
		else if (group === "event")
			at = child(at, -1 - ofEvent, () => ({
				name: parts[ofEvent][0], sort: "event",
			}));
		for (let n = data.samples[i + 1]; n; n = data.nodes[2 * (n - 1)])
			path.push(data.nodes[2 * (n - 1) + 1]);
		while (path.length) {
			const name = path.pop();

			at = child(at, name, () => frame(name));
		}
		if (group !== "event")
			at = child(at, -1 - ofEvent, () => ({
				name: parts[ofEvent][0], sort: "event",
			}));
		at.value += value;
	}
	return root;
}

function hash(text)
{
	let sum = 0;

	for (const c of text)
		sum = (sum * 31 + c.codePointAt(0)) % 1009;
	return sum / 1009;
}

const HUES = {
	user: 30, inlined: 175, kernel: 265, event: 210, process: 100, root: 0,
};

function color(node)
{
	const { name, sort, guessed } = node.data;

	if (node.highlight)
		return "#e600e6";
	if (sort === "root" || name.startsWith("["))
		return "#c8c8c8";
	return `hsl(${HUES[sort] + 20 * hash(name)}, ${guessed ? 25 : 75}%, ${62 + 14 * hash(name + sort)}%)`;
}

const chart = flamegraph.default();
let weight = data.first;
let root = null;
let total = 0;

function label(node)
{
	const module = node.data.module ? "  " + node.data.module : "";
	const share = total ? (100 * node.value / total).toFixed(2) : "0";
	const sort = ["kernel", "inlined"].includes(node.data.sort) ?
		` (${node.data.sort})` : "";

	return `${node.data.name}${sort}${module}: ${format(weight, node.value)}, ${share} %`;
}

function search()
{
	const term = element("search").value;

	element("found").textContent = "";
	if (!root.children.length)
		return;
	if (term)
		chart.search(term);
	else
		chart.clear();
}

function draw()
{
	weight = Number(element("weight").value);
	root = tree(weight, element("group").value, element("process").value,
		    element("event").value);
	total = 0;
	for (const stack = [root]; stack.length;) {
		const node = stack.pop();

		total += node.value;
		stack.push(...node.children);
	}
	element("chart").replaceChildren();
	element("empty").style.display = root.children.length ? "none" : "block";
	element("details").textContent = `all: ${format(weight, total)}`;
	if (!root.children.length)
		return;
	// Deep stacks leave the window: their beginning is what should be in it.
	chart.height(null).inverted(element("from").value === "top");
	d3.select("#chart").datum(root).call(chart);
	search();
}

function addChoices(select, numbers, nameOf)
{
	const choices = Array.from(new Set(numbers), n => [nameOf(n), n]);

	choices.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);
	for (const [name, number] of choices)
		element(select).add(new Option(name, number));
}

chart.selfValue(true).cellHeight(17).minFrameSize(0.4).transitionDuration(150)
	.sort(true).resetHeightOnZoom(true)
	.width(document.documentElement.clientWidth - 24)
	.setColorMapper(color).setLabelHandler(label)
	.setDetailsHandler(text => {
		element("details").textContent = text ||
			`all: ${format(weight, total)}`;
	})
	.setSearchMatch((node, term) => [node.data.name, node.data.module || ""]
		.some(text => text.toLowerCase().includes(term.toLowerCase())))
	.setSearchHandler((results, sum) => {
		element("found").textContent = `found in ${format(weight, sum)}, ` +
			`${total ? (100 * sum / total).toFixed(2) : 0} % of what is shown`;
	});

addChoices("process", data.kinds.filter((_, i) => i % 2 === 0), processName);
addChoices("event", data.kinds.filter((_, i) => i % 2 === 1), n => parts[n][0]);
for (const note of data.notes) {
	const item = document.createElement("li");

	item.textContent = note;
	element("notes").append(item);
}
element("weight").value = data.first;
for (const id of ["weight", "group", "process", "event", "from"])
	element(id).addEventListener("change", draw);
element("search").addEventListener("input", search);
element("controls").addEventListener("submit", event => event.preventDefault());
element("reset").addEventListener("click", () => {
	if (root.children.length)
		chart.resetZoom();
});
window.addEventListener("resize", () => {
	chart.width(document.documentElement.clientWidth - 24);
	draw();
});
draw();
