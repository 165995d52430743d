// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Rust that makes system calls: from generics, trait objects, closures, a callback of the standard library, a destructor, another thread.
use std::hint::black_box;

extern "C" {
    fn getpriority(which: i32, who: u32) -> i32;
}

#[inline(never)]
fn ask(which: u64) -> u64 {
    which + unsafe { getpriority(0, 0) } as u64
}

mod shapes {
    pub trait Area {
        fn area(&self, scale: u64) -> u64;
    }

    pub struct Square(pub u64);

    #[inline(always)]
    fn middle(which: u64) -> u64 {
        super::ask(which) + 1
    }

    impl Area for Square {
        #[inline(never)]
        fn area(&self, scale: u64) -> u64 {
            middle(scale) * self.0
        }
    }

    #[inline(never)]
    pub fn total<T: Area>(shape: &T) -> u64 {
        shape.area(2) + 1
    }
}

struct Guard;

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        black_box(ask(3));
    }
}

#[inline(never)]
fn deep(depth: u64) -> u64 {
    let _guard = Guard;
    if depth == 0 {
        ask(4)
    } else {
        deep(depth - 1) + 1
    }
}

#[inline(never)]
fn round() -> u64 {
    let mut numbers = [3u64, 1, 2, 5, 4];
    let shape: Box<dyn shapes::Area> = Box::new(shapes::Square(black_box(3)));
    numbers.sort_by(|a, b| {
        ask(5);
        a.cmp(b)
    });
    let sum: u64 = numbers.iter().map(|n| ask(*n)).sum();
    sum + shape.area(1) + shapes::total(&shapes::Square(black_box(2))) + deep(5)
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1);
    for _ in 0..rounds {
        black_box(round());
    }
    black_box(std::thread::spawn(round).join().unwrap());
}
