// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Prints what is mapped executable in it, and a stack, as subject.cc does.
use std::ffi::c_void;

extern "C" {
    fn backtrace(buffer: *mut *mut c_void, size: i32) -> i32;
}

mod shapes {
    pub trait Area {
        fn area(&self) -> u64;
    }

    pub struct Square(pub u64);

    impl Area for Square {
        #[inline(never)]
        fn area(&self) -> u64 {
            crate::print_stack("rust");
            std::hint::black_box(self.0 * self.0)
        }
    }

    #[inline(never)]
    pub fn total<T: Area>(shape: &T) -> u64 {
        std::hint::black_box(shape.area() + 1)
    }
}

#[inline(never)]
fn print_stack(name: &str) {
    let mut frames = [std::ptr::null_mut(); 64];
    let n = unsafe { backtrace(frames.as_mut_ptr(), 64) };
    let addresses: Vec<String> = frames[..n as usize]
        .iter()
        .map(|f| format!("{:p}", *f))
        .collect();
    println!("stack {} {}", name, addresses.join(" "));
}

fn main() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    for line in maps.lines().filter(|l| l.contains(" r-xp ")) {
        println!("map {}", line);
    }
    println!("total {}", shapes::total(&shapes::Square(3)));
}
