// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The data's shape is told in page.c.
"use strict";

const EVENTS = 0, TIME = 1;
const CONTROLS = ["weight", "group", "process", "thread", "event", "from", "search", "function"];
const element = id => document.getElementById(id);

// A trace: what page.c wrote, and the parts of its names.
class Trace {
	constructor(data)
	{
		Object.assign(this, data);
		this.parts = data.names.map(name => {
			const tab = name.lastIndexOf("\t");

			return [name.slice(0, tab), name.slice(tab + 1)];
		});
		this.machines = new Set();
		for (let i = 0; i < data.kinds.length; i += 2)
			this.machines.add(this.parts[data.kinds[i]][1]);
		this.frames = [];
		this.others = new Map();
	}

	// A frame that is none: a process, a thread or an event.
	kind(name, sort)
	{
		const key = sort + name;

		if (!this.others.has(key))
			this.others.set(key, { name, sort });
		return this.others.get(key);
	}

	// Which thread: "name [tid]", of several machines with that one's name.
	thread(name)
	{
		const [thread, machine] = this.parts[name];

		return this.machines.size > 1 && machine ? machine + ": " + thread : thread;
	}

	process(name)
	{
		return this.thread(name).replace(/ \[\d+\]$/, "");
	}

	frame(name)
	{
		return this.frames[name] = this.frames[name] || frame(...this.parts[name]);
	}
}

// Suffixes are those of perf's folded stacks, and one for frames that are guessed.
const SORTS = { "_[k]": "kernel", "_[i]": "inlined" };
const GUESSED = "_[guessed]";

function frame(suffixed, module)
{
	const guessed = suffixed.endsWith(GUESSED);
	const text = guessed ? suffixed.slice(0, -GUESSED.length) : suffixed;
	const sort = SORTS[text.slice(-4)];

	const one = {
		name: (sort ? text.slice(0, -4) : text) + (guessed ? " [guessed]" : ""),
		module: module, sort: sort || "user", guessed: guessed,
	};

	one.key = key(one);
	return one;
}

// What tells functions apart, also those of two files.
const key = node => `${node.sort}\t${node.name}\t${node.module || ""}`;
const nameOf = key => key.split("\t")[1] || key;

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

const percent = (part, all) => (all ? 100 * part / all : 0).toFixed(2) + " %";

// What is the same is the same object: frame() and Trace.kind() see to that.
function child(parent, kind)
{
	let node = parent.known && parent.known.get(kind);

	if (!node) {
		node = newNode(kind);
		parent.known = parent.known || new Map();
		parent.known.set(kind, node);
		parent.children.push(node);
	}
	return node;
}

function newNode(kind)
{
	return {
		name: kind.name, module: kind.module, sort: kind.sort, guessed: kind.guessed,
		value: 0, known: null, children: [],
	};
}

const state = () => Object.fromEntries(CONTROLS.map(id => [id, element(id).value]));

// What of a trace the controls ask for: use(frames outermost first, value, its process, its event).
function forSamples(trace, wants, use)
{
	const weight = Number(wants.weight);

	for (let i = 0; i < trace.samples.length; i += 4) {
		const kind = 2 * trace.samples[i];
		const thread = trace.kinds[kind], value = trace.samples[i + 2 + weight];
		const event = trace.parts[trace.kinds[kind + 1]][0];
		const path = [];

		if (!value || (wants.process && wants.process !== trace.process(thread)) ||
		    (wants.thread && wants.thread !== trace.thread(thread)) ||
		    (wants.event && wants.event !== event))
			continue;
		for (let n = trace.samples[i + 1]; n; n = trace.nodes[2 * (n - 1)])
			path.push(trace.frame(trace.nodes[2 * (n - 1) + 1]));
		use(path.reverse(), value, thread, event);
	}
}

// All stacks, or those of one function: down from it, or up to those that called it.
function tree(trace, wants, callers = false)
{
	const root = newNode({ name: wants.function ? nameOf(wants.function) : "all", sort: "root" });

	forSamples(trace, wants, (path, value, thread, event) => {
		const leaf = trace.kind(event, "event");
		let at = root;

		if (wants.function) {
			// The outermost, so that a function that calls itself counts once.
			const where = path.findIndex(each => each.key === wants.function);

			if (where < 0)
				return;
			path = callers ? path.slice(0, where).reverse() : path.slice(where + 1);
		} else if (wants.group === "process") {
			at = child(at, trace.kind(trace.process(thread), "process"));
		} else if (wants.group === "thread") {
			at = child(at, trace.kind(trace.thread(thread), "thread"));
		} else if (wants.group === "event") {
			at = child(at, leaf);
		}
		for (const each of path)
			at = child(at, each);
		if (wants.group !== "event" && !callers)
			at = child(at, leaf);
		at.value += value;
	});
	return finishTree(root);
}

// Of each node, what it is in another trace: a part of that one's whole.
function compare(root, other)
{
	for (const stack = [[root, other]]; stack.length;) {
		const [node, its] = stack.pop();
		const there = new Map((its ? its.children : []).map(each => [key(each), each]));

		node.before = its && other.total ? its.total / other.total : 0;
		for (const each of node.children)
			stack.push([each, there.get(key(each))]);
	}
}

function hash(text)
{
	let sum = 0;

	for (const c of text)
		sum = (sum * 31 + c.codePointAt(0)) % 1009;
	return sum / 1009;
}

const HUES = {
	user: 30, inlined: 175, kernel: 265, event: 210, process: 100, thread: 100, root: 0,
};
let total = 0;
let compared = null;

// Of a comparison: more is red, less is blue.
function differenceColor(node, dark)
{
	const now = total ? node.total / total : 0;
	const change = Math.max(-1, Math.min(1, (now - node.before) / Math.max(now, node.before, 1e-9)));
	const strength = Math.abs(change);

	return dark ? `hsl(${change > 0 ? 0 : 220}, ${70 * strength}%, ${28 + 14 * strength}%)` :
		`hsl(${change > 0 ? 0 : 220}, ${90 * strength}%, ${92 - 26 * strength}%)`;
}

function color(node, dark)
{
	const { name, sort, guessed } = node;

	if (compared)
		return differenceColor(node, dark);
	if (sort === "root" || name.startsWith("["))
		return dark ? "#555" : "#c8c8c8";
	node.hue = node.hue || hash(name);
	const saturation = guessed ? 25 : 75;

	return dark ? `hsl(${HUES[sort] + 20 * node.hue}, ${saturation / 2}%, ${28 + 9 * node.hue}%)` :
		`hsl(${HUES[sort] + 20 * node.hue}, ${saturation}%, ${64 + 12 * node.hue}%)`;
}

function label(node)
{
	const module = node.module ? "  " + node.module : "";
	const sort = ["kernel", "inlined"].includes(node.sort) ? ` (${node.sort})` : "";
	const before = compared && node.before !== undefined ?
		`; before: ${(100 * node.before).toFixed(2)} %` : "";

	return `${node.name}${sort}${module}: ${format(Number(element("weight").value), node.total)}, ` +
		`${percent(node.total, total)}${before}`;
}

const trace = new Trace(JSON.parse(element("data").textContent));
let saved = "";
const options = {
	label, color,
	select: node => {
		element("details").textContent = node ? label(node) :
			`${chart.root.name}: ${format(Number(element("weight").value), total)}`;
	},
	zoom: () => save(),
};
const chart = new Flame(element("chart"), options);
const above = new Flame(element("callers"), options);

// The URL says what is shown.
function save()
{
	const params = new URLSearchParams();

	for (const [id, value] of Object.entries(state()))
		if (value && !(id === "weight" && Number(value) === trace.first) &&
		    !(id === "from" && value === "top"))
			params.set(id, value);
	if (chart.zoomed && chart.zoomed.parent)
		params.set("zoom", Flame.path(chart.zoomed));
	saved = params.toString();
	history.replaceState(null, "", saved ? "#" + saved : location.pathname + location.search);
}

function load()
{
	const params = new URLSearchParams(location.hash.slice(1));

	element("weight").value = params.get("weight") || trace.first;
	element("from").value = params.get("from") || "top";
	for (const id of ["group", "process", "event", "search", "function"])
		element(id).value = params.get(id) || "";
	addThreads();
	element("thread").value = params.get("thread") || "";
	draw();
	chart.follow(params.get("zoom"));
	save();
}

// A regular expression; what is none is looked for as it is.
function matcher(term)
{
	let regex;

	try {
		regex = new RegExp(term, "i");
	} catch {
		regex = new RegExp(term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
	}
	return node => regex.test(node.name) || regex.test(node.module || "");
}

function search()
{
	const { search: term, weight } = state();
	const found = chart.search(term ? matcher(term) : null);

	if (!element("callers").hidden)
		above.search(term ? matcher(term) : null);
	element("found").textContent = term ?
		`found in ${format(Number(weight), found)}, ${percent(found, total)} of what is shown` : "";
	listFunctions();
}

// Each function with what it costs, and all stacks, also once one function is shown; listed
// once the table is open.
let functions = [];
let whole = 0;

function countFunctions(wants)
{
	const known = new Map();
	let number = 0;

	whole = 0;
	forSamples(trace, wants, (path, value) => {
		number++;
		whole += value;
		path.forEach((each, i) => {
			let one = known.get(each);

			if (!one)
				known.set(each, one = { frame: each, total: 0, self: 0, seen: 0 });
			if (one.seen !== number)
				one.total += value;
			one.seen = number;
			if (i === path.length - 1)
				one.self += value;
		});
	});
	functions = Array.from(known.values());
}

let order = "total";
// More rows than anybody reads make the page slow.
const ROWS = 300;

function listFunctions()
{
	const { search: term, weight } = state();
	const matches = term ? matcher(term) : () => true;

	if (!element("table").open)
		return;
	countFunctions(state());
	const rows = functions.filter(one => matches(one.frame))
		.sort((a, b) => b[order] - a[order] || (a.frame.name < b.frame.name ? -1 : 1));

	element("functions").replaceChildren(...rows.slice(0, ROWS).map(one => {
		const row = document.createElement("tr");
		const button = document.createElement("button");

		for (const value of [one.total, one.self]) {
			const cell = row.insertCell();

			cell.textContent = `${format(Number(weight), value)}, ${percent(value, whole)}`;
		}
		button.type = "button";
		button.textContent = one.frame.name;
		button.addEventListener("click", () => chooseFunction(one.frame.key));
		row.insertCell().append(button);
		row.insertCell().textContent = one.frame.module;
		return row;
	}));
	element("more").textContent = rows.length > ROWS ?
		`and ${(rows.length - ROWS).toLocaleString("en")} more` : "";
}

function chooseFunction(key)
{
	element("function").value = key;
	draw();
	save();
}

function draw()
{
	const wants = state(), root = tree(trace, wants);
	const one = Boolean(wants.function);

	total = root.total;
	if (compared)
		compare(root, tree(compared, wants));
	element("empty").hidden = total > 0;
	element("chart").hidden = !total;
	element("whole").hidden = !one;
	element("callers").hidden = !one || !total;
	for (const id of ["calls", "calledby"])
		element(id).hidden = !one || !total;
	if (one && total) {
		const callers = tree(trace, wants, true);

		if (compared)
			compare(callers, tree(compared, wants, true));
		above.show(callers, false);
	}
	chart.show(root, wants.from === "bottom" && !one);
	options.select(null);
	search();
}

function addChoices(id, choices)
{
	const select = element(id);

	select.length = 1;
	for (const choice of Array.from(new Set(choices)).sort())
		select.add(new Option(choice, choice));
}

// The threads of the process that is chosen, or all.
function addThreads()
{
	const { process } = state();

	addChoices("thread", trace.kinds.filter((_, i) => i % 2 === 0)
		.filter(n => !process || trace.process(n) === process).map(n => trace.thread(n)));
}

// Another page of kunwind. What is in the file that the user has chosen may be anything.
async function readOther(file)
{
	const page = new DOMParser().parseFromString(await file.text(), "text/html");

	try {
		compared = new Trace(JSON.parse(page.getElementById("data").textContent));
		draw();
		element("compared").textContent = `compared with ${file.name}: red is more than there, blue is less`;
	} catch {
		compared = null;
		draw();
		element("compared").textContent = `${file.name} is no page of kunwind report --flame`;
	}
}

// A page that was made to compare.
if (element("before")) {
	compared = new Trace(JSON.parse(element("before").textContent));
	element("compared").textContent = "compared with the trace before: red is more than there, blue is less";
}
addChoices("process", trace.kinds.filter((_, i) => i % 2 === 0).map(n => trace.process(n)));
addChoices("event", trace.kinds.filter((_, i) => i % 2 === 1).map(n => trace.parts[n][0]));
for (const note of trace.notes) {
	const item = document.createElement("li");

	item.textContent = note;
	element("notes").append(item);
}
for (const id of ["weight", "group", "process", "thread", "event", "from"])
	element(id).addEventListener("change", () => {
		if (id === "process") {
			addThreads();
			element("thread").value = "";
		}
		draw();
		save();
	});
element("search").addEventListener("input", () => {
	search();
	save();
});
element("controls").addEventListener("submit", event => event.preventDefault());
element("reset").addEventListener("click", () => chart.zoom(chart.root));
element("whole").addEventListener("click", () => chooseFunction(""));
element("table").addEventListener("toggle", listFunctions);
for (const id of ["total", "self"])
	element("by" + id).addEventListener("click", () => {
		order = id;
		listFunctions();
	});
element("other").addEventListener("change", event => readOther(event.target.files[0]));
element("chart").addEventListener("dblclick", () => {
	if (chart.at && ["user", "inlined", "kernel"].includes(chart.at.sort))
		chooseFunction(key(chart.at));
});
addEventListener("hashchange", () => {
	if (location.hash.slice(1) !== saved)
		load();
});
addEventListener("keydown", event => {
	if (event.key === "/" && event.target === document.body || event.key === "/" && event.target.tagName === "CANVAS") {
		element("search").focus();
		event.preventDefault();
	}
});
load();
