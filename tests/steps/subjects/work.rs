// SPDX-License-Identifier: GPL-2.0-only OR MIT
//! A Rust program: collections, formatting, trait objects, a caught panic.
use std::collections::BTreeMap;
use std::panic;

trait Shape {
    fn area(&self) -> u64;
}

struct Square(u64);
struct Rectangle(u64, u64);

impl Shape for Square {
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}

impl Shape for Rectangle {
    fn area(&self) -> u64 {
        self.0 * self.1
    }
}

#[inline(never)]
fn fails(n: usize) -> usize {
    let v: Vec<usize> = (0..n).collect();
    v[n + 1]
}

fn main() {
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(3)), Box::new(Rectangle(2, 5))];
    let mut map = BTreeMap::new();
    for (i, word) in "the walk of a stack is the walk of its rules".split(' ').enumerate() {
        *map.entry(word.to_string()).or_insert(0) += i;
    }
    panic::set_hook(Box::new(|_| {}));
    let caught = panic::catch_unwind(|| fails(3)).is_err();
    let area: u64 = shapes.iter().map(|s| s.area()).sum();
    println!("{} {:?} {}", area, map, caught);
    std::process::exit(if area == 19 && caught { 0 } else { 1 });
}
