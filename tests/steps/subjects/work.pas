{ SPDX-License-Identifier: GPL-2.0-only OR MIT }
{ A Pascal program: objects, callbacks, nested procedures, exceptions, strings. }
program work;
{$mode objfpc}{$H+}

uses
  SysUtils, Classes;

type
  TShape = class
    function Area: Integer; virtual; abstract;
  end;

  TSquare = class(TShape)
    FSide: Integer;
    constructor Create(Side: Integer);
    function Area: Integer; override;
  end;

constructor TSquare.Create(Side: Integer);
begin
  FSide := Side;
end;

function TSquare.Area: Integer;
begin
  Result := FSide * FSide;
end;

function Compare(A, B: Pointer): Integer;
begin
  Result := TShape(A).Area - TShape(B).Area;
end;

function Sum(N: Integer): Integer;

  function Inner(I: Integer): Integer;
  begin
    if I > N then
      Result := 0
    else
      Result := I + Inner(I + 1);
  end;

begin
  Result := Inner(0);
end;

function Fails(N: Integer): Integer;
var
  Zero: Integer;
begin
  Zero := N - N;
  try
    if N > 2 then
      raise Exception.Create('too many');
    Result := N div Zero;
  finally
    Zero := 1;
  end;
end;

var
  Shapes: TList;
  Text: string;
  I: Integer;
begin
  Shapes := TList.Create;
  for I := 1 to 20 do
    Shapes.Add(TSquare.Create(I * 7919 mod 31));
  Shapes.Sort(@Compare);
  Text := '';
  for I := 1 to 4 do
    try
      Text := Text + IntToStr(Fails(I));
    except
      on E: EDivByZero do
        Text := Text + 'zero ';
      on E: Exception do
        Text := Text + E.Message + ' ';
    end;
  Text := Text + Format('%d %.2f', [Sum(9), Pi]);
  WriteLn(Text, TSquare(Shapes[0]).Area);
end.
