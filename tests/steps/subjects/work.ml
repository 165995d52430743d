(* SPDX-License-Identifier: GPL-2.0-only OR MIT *)
(* An OCaml program: closures, exceptions, C functions that call back, collections
   of garbage. *)
external apply : (int -> int) -> int -> int = "apply_callback"

exception Found of int

let rec find n = function
  | [] -> raise Not_found
  | x :: _ when x > n -> raise (Found x)
  | _ :: rest -> 1 + find n rest

let rec deep n = if n = 0 then apply (fun x -> x * 2) 21 else 1 + deep (n - 1)

let nested n =
  try apply (fun x -> if x > 3 then raise (Found x) else apply succ x) n
  with Found x -> -x

let () =
  let table = Hashtbl.create 7 in
  for i = 1 to 50 do
    Hashtbl.replace table (string_of_int (i * 7919 mod 31)) (List.init 20 (( * ) i))
  done;
  Gc.full_major ();
  let numbers = Array.init 40 (fun i -> i * 7919 mod 101) in
  Array.sort (fun a b -> compare (float_of_int a) (float_of_int b)) numbers;
  let found = try find 50 (Array.to_list numbers) with Found x -> x in
  Printf.printf "%d %d %d %d %.3f %d\n" found (deep 5) (nested 2) (nested 9)
    (sqrt 2.) (Hashtbl.length table)
