--  SPDX-License-Identifier: GPL-2.0-only OR MIT
--  An Ada program: nested procedures as arguments (trampolines on the stack),
--  exceptions, finalization, generics, a task.
with Ada.Containers.Generic_Array_Sort;
with Ada.Finalization;
with Ada.Text_IO;

procedure Work_Ada is
   type Numbers is array (Positive range <>) of Integer;

   type Guard is new Ada.Finalization.Limited_Controlled with null record;
   overriding procedure Finalize (G : in out Guard);

   Released : Integer := 0;

   overriding procedure Finalize (G : in out Guard) is
      pragma Unreferenced (G);
   begin
      Released := Released + 1;
   end Finalize;

   Compared : Integer := 0;

   function Less (A, B : Integer) return Boolean is
   begin
      Compared := Compared + 1;
      return A < B;
   end Less;

   procedure Sort is new Ada.Containers.Generic_Array_Sort
     (Positive, Integer, Numbers, Less);

   type Visitor is access procedure (N : Integer);

   procedure Visit (All_Of : Numbers; Each : not null Visitor) is
   begin
      for N of All_Of loop
         Each (N);
      end loop;
   end Visit;

   function Fails (N : Positive; From : Numbers) return Integer is
      Held : Guard;
      pragma Unreferenced (Held);
   begin
      return From (N + From'Last);
   end Fails;

   task type Worker is
      entry Start (N : Integer);
      entry Get (N : out Integer);
   end Worker;

   task body Worker is
      Mine : Integer := 0;
   begin
      accept Start (N : Integer) do
         Mine := N * N;
      end Start;
      accept Get (N : out Integer) do
         N := Mine;
      end Get;
   end Worker;

   Values : Numbers (1 .. 20);
   Sum    : Integer := 0;
   Square : Integer;

   procedure Add (N : Integer) is
   begin
      Sum := Sum + N;
   end Add;

   One : Worker;
begin
   One.Start (12);
   for I in Values'Range loop
      Values (I) := I * 7919 mod 31;
   end loop;
   Sort (Values);
   Visit (Values, Add'Unrestricted_Access);
   for I in 1 .. 3 loop
      begin
         Sum := Sum + Fails (I, Values);
      exception
         when Constraint_Error =>
            Sum := Sum + 1;
      end;
   end loop;
   One.Get (Square);
   Ada.Text_IO.Put_Line (Sum'Image & Released'Image & Square'Image & Compared'Image);
end Work_Ada;
