// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A flame graph on a canvas, which draws what can be seen and nothing else: 100,000 frames take as long as a screen of them.
"use strict";

const ROW = 18;
// Narrower frames are not drawn, in pixels.
const NARROWEST = 0.4;
const FONT = "12px monospace";

// A node has name, value (of its own), children; total, parent, depth and index are set here.
function finishTree(root)
{
	const order = [root];

	root.parent = null;
	root.depth = 0;
	root.index = 0;
	for (let i = 0; i < order.length; i++) {
		const node = order[i];

		node.total = node.value;
		node.children.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
		node.children.forEach((child, index) => {
			child.parent = node;
			child.depth = node.depth + 1;
			child.index = index;
			order.push(child);
		});
	}
	for (let i = order.length - 1; i > 0; i--)
		order[i].parent.total += order[i].total;
	root.deepest = order[order.length - 1].depth;
	return root;
}

class Flame {
	// place: an element. options: label(node), color(node, dark), select(node or null), zoom(node).
	constructor(place, options)
	{
		this.options = options;
		this.place = place;
		this.canvas = document.createElement("canvas");
		this.canvas.tabIndex = 0;
		this.canvas.setAttribute("role", "application");
		this.canvas.setAttribute("aria-label",
			"flame graph; arrow keys move, Enter zooms, Escape goes back");
		place.replaceChildren(this.canvas);
		this.dark = matchMedia("(prefers-color-scheme: dark)");
		this.upward = false;
		this.matches = null;
		this.root = null;
		this.at = null;
		// Of each row, the frames that are drawn: [node, x, width].
		this.drawn = [];
		this.canvas.addEventListener("mousemove", event => this.select(this.hit(event)));
		this.canvas.addEventListener("mouseleave", () => this.select(null));
		this.canvas.addEventListener("click", event => this.zoom(this.hit(event)));
		this.canvas.addEventListener("keydown", event => this.key(event));
		this.dark.addEventListener("change", () => this.draw());
		addEventListener("scroll", () => this.draw());
		addEventListener("resize", () => this.draw());
		addEventListener("beforeprint", () => this.draw(true));
		addEventListener("afterprint", () => this.draw());
	}

	// upward: callees are above their callers, and the root is at the bottom.
	show(root, upward)
	{
		this.root = root;
		this.zoomed = root;
		this.at = null;
		this.upward = upward;
		this.place.style.height = `${(root.deepest + 1) * ROW}px`;
		if (upward)
			scrollTo(0, document.documentElement.scrollHeight);
		else
			scrollTo(0, 0);
		this.draw();
	}

	// test(node): whether a frame is found; null: nothing is looked for. Returns what is found, without what is within another.
	search(test)
	{
		let found = 0;

		this.matches = test && new Set();
		for (const stack = test ? [[this.root, false]] : []; stack.length;) {
			const [node, within] = stack.pop();
			const match = test(node);

			if (match) {
				this.matches.add(node);
				found += within ? 0 : node.total;
			}
			for (const child of node.children)
				stack.push([child, within || match]);
		}
		this.draw();
		return found;
	}

	draw(print = false)
	{
		const rect = this.place.getBoundingClientRect();
		const ratio = devicePixelRatio || 1;
		const height = print ? Math.min(rect.height, 8000) :
			Math.min(rect.height, innerHeight);
		const context = this.canvas.getContext("2d");
		// The canvas stays in the window, and shows that part of the graph.
		const top = print ? 0 : Math.min(Math.max(0, -rect.top),
						 Math.max(0, rect.height - height));

		if (!this.root)
			return;
		this.width = rect.width;
		this.canvas.style.width = `${rect.width}px`;
		this.canvas.style.height = `${height}px`;
		this.canvas.width = Math.round(rect.width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.transform = `translateY(${top}px)`;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.font = FONT;
		context.textBaseline = "middle";
		this.context = context;
		this.letter = context.measureText("m").width;
		this.isDark = this.dark.matches && !print;
		this.first = Math.floor(top / ROW);
		this.last = Math.ceil((top + height) / ROW);
		this.top = top;
		this.drawn = [];
		const above = [];

		for (let node = this.zoomed.parent; node; node = node.parent)
			above.push(node);
		for (const node of above)
			this.frame(node, 0, this.width);
		for (const stack = [[this.zoomed, 0, this.width]]; stack.length;) {
			const [node, x, width] = stack.pop();
			let start = x;

			this.frame(node, x, width);
			for (const child of node.children) {
				const part = node.total ? width * child.total / node.total : 0;

				if (part >= NARROWEST)
					stack.push([child, start, part]);
				start += part;
			}
		}
	}

	row(node)
	{
		return this.upward ? this.root.deepest - node.depth : node.depth;
	}

	frame(node, x, width)
	{
		const row = this.row(node), { context } = this;
		const y = row * ROW - this.top;

		(this.drawn[row] = this.drawn[row] || []).push([node, x, width]);
		if (row < this.first || row > this.last)
			return;
		context.fillStyle = this.matches && this.matches.has(node) ?
			(this.isDark ? "#d946ef" : "#e879f9") :
			this.options.color(node, this.isDark);
		context.fillRect(x, y, Math.max(width - (width > 2 ? 1 : 0), NARROWEST), ROW - 1);
		if (node === this.at) {
			context.strokeStyle = this.isDark ? "#fff" : "#000";
			context.lineWidth = 2;
			context.strokeRect(x + 1, y + 1, Math.max(width - 3, 1), ROW - 3);
		}
		const letters = Math.floor((width - 6) / this.letter);

		if (letters < 3)
			return;
		context.fillStyle = this.isDark ? "#fff" : "#000";
		context.fillText(node.name.length <= letters ? node.name :
				 node.name.slice(0, letters - 1) + "…", x + 3, y + ROW / 2);
	}

	hit(event)
	{
		const rect = this.canvas.getBoundingClientRect();
		const row = Math.floor((event.clientY - rect.top + this.top) / ROW);
		const x = event.clientX - rect.left;
		const found = (this.drawn[row] || []).find(([, start, width]) =>
			x >= start && x < start + Math.max(width, 1));

		return found ? found[0] : null;
	}

	select(node)
	{
		if (node === this.at)
			return;
		this.at = node;
		this.draw();
		this.options.select(node);
	}

	zoom(node)
	{
		if (!node || node === this.zoomed)
			return;
		this.zoomed = node;
		this.draw();
		this.options.zoom(node);
	}

	// Where a node is below the root, for the URL.
	static path(node)
	{
		const path = [];

		for (; node.parent; node = node.parent)
			path.push(node.index);
		return path.reverse().join(".");
	}

	follow(path)
	{
		let node = this.root;

		for (const index of path ? path.split(".") : []) {
			if (!node.children[index])
				break;
			node = node.children[index];
		}
		this.zoomed = node;
		this.draw();
	}

	key(event)
	{
		const at = this.at || this.zoomed;
		const broadest = at.children.reduce((a, b) => !a || b.total > a.total ? b : a, null);
		const out = this.upward ? "ArrowDown" : "ArrowUp";
		const into = this.upward ? "ArrowUp" : "ArrowDown";
		const beside = step => at.parent && at.parent.children[at.index + step];
		const to = {
			[out]: () => at.parent, [into]: () => broadest,
			ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
			Home: () => this.root,
		}[event.key];

		if (to) {
			const node = to();

			if (node)
				this.reveal(node);
		} else if (event.key === "Enter" || event.key === " ") {
			this.zoom(at);
		} else if (event.key === "Escape") {
			this.zoom(this.root);
		} else {
			return;
		}
		event.preventDefault();
	}

	// Select a node, and bring it into view.
	reveal(node)
	{
		const y = this.place.getBoundingClientRect().top + this.row(node) * ROW;
		let zoom = this.zoomed;

		while (zoom.parent && !(node === zoom || Flame.within(node, zoom)) &&
		       !Flame.within(zoom, node))
			zoom = zoom.parent;
		this.zoom(zoom);
		if (y < 0 || y > innerHeight - 4 * ROW)
			scrollBy(0, y - innerHeight / 2);
		this.select(node);
	}

	static within(node, other)
	{
		while (node && node !== other)
			node = node.parent;
		return node === other;
	}
}
