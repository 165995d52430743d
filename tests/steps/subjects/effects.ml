(* SPDX-License-Identifier: GPL-2.0-only OR MIT *)
(* Effects of OCaml 5: each handler has a stack of its own, C functions run on
   the system's. *)
open Effect
open Effect.Deep

type _ Effect.t += Ask : int -> int Effect.t | Yield : unit Effect.t

let rec deep n = if n = 0 then perform (Ask 20) else 1 + deep (n - 1)

let answer f =
  match_with f ()
    { retc = Fun.id;
      exnc = raise;
      effc = (fun (type a) (e : a Effect.t) -> match e with
        | Ask n -> Some (fun (k : (a, _) continuation) -> continue k (n * 2))
        | _ -> None) }

let queue : (unit -> unit) Queue.t = Queue.create ()

let spawn f =
  match_with f ()
    { retc = (fun () -> ());
      exnc = raise;
      effc = (fun (type a) (e : a Effect.t) -> match e with
        | Yield -> Some (fun (k : (a, unit) continuation) ->
            Queue.push (fun () -> continue k ()) queue)
        | _ -> None) }

let () =
  let log = Buffer.create 10 in
  for i = 1 to 3 do
    spawn (fun () ->
      for j = 1 to 3 do
        Buffer.add_string log (Printf.sprintf "%d%d " i j);
        Gc.minor ();
        perform Yield
      done)
  done;
  while not (Queue.is_empty queue) do
    spawn (Queue.pop queue)
  done;
  let nested = answer (fun () -> answer (fun () -> deep 30) + deep 3) in
  let failed = try answer (fun () -> failwith "no") with Failure _ -> 7 in
  Printf.printf "%s %d %d %.3f\n" (Buffer.contents log) nested failed (sqrt 2.)
