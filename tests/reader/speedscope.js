// SPDX-License-Identifier: GPL-2.0-only OR MIT
// speedscope.js PACKAGE FILE: read a file with the importer of the npm package speedscope, and print what it understood.
// The package has one script for browsers: it runs here on a page that is none, with a way to its importer.
"use strict";

const fs = require("fs");
const path = require("path");
const vm = require("vm");

// Whatever the page is asked for, it has.
const nothing = new Proxy(function () {}, {
	get: (_, name) => name === Symbol.toPrimitive ? () => "" : nothing,
	apply: () => nothing,
	construct: () => nothing,
	set: () => true,
});

function importer(folder)
{
	const release = path.join(folder, "dist", "release");
	const name = fs.readdirSync(release).find(each => /^speedscope-.*\.js$/.test(each));
	const script = fs.readFileSync(path.join(release, name), "utf8");
	const found = /file-format-schema\.json"\)return console\.log\("Importing as speedscope json file"\),([\w$]+)\(/.exec(script);
	const context = { self: nothing, window: nothing, document: nothing, navigator: nothing,
		console: { assert() {}, log() {} } };

	vm.createContext(context);
	try {
		vm.runInContext(script.replace("(()=>{", `(()=>{globalThis.read = text => ${found[1]}(JSON.parse(text));`), context);
	} catch (error) {
		// There is no page to draw on; what reads files is here by now.
	}
	return context.read;
}

const group = importer(process.argv[2])(fs.readFileSync(process.argv[3], "utf8"));
const profiles = group.profiles.map(profile => {
	const calls = [], frames = {};

	profile.forEachCall((node, at) => calls.push(["open", node.frame.name, at]),
		(node, at) => calls.push(["close", node.frame.name, at]));
	profile.forEachFrame(frame => {
		frames[frame.name] = [frame.getSelfWeight(), frame.getTotalWeight()];
	});
	return { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), frames, calls };
});
fs.writeSync(1, JSON.stringify(profiles));
// What waits for a page would fail now.
process.exit(0);
