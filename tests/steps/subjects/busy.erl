%% SPDX-License-Identifier: GPL-2.0-only OR MIT
%% An Erlang program that is busy in its own, compiled code and in functions of
%% the runtime system that are written in C.
-module(busy).
-export([start/0]).

start() ->
    Table = ets:new(table, [ordered_set, public]),
    loop(Table, 0).

loop(Table, N) ->
    Key = N rem 1000,
    ets:insert(Table, {Key, erlang:md5(integer_to_list(N))}),
    try lists:sort([fails(I, N) || I <- [3, 1, 2]])
    catch error:Reason -> ets:insert(Table, {Key, Reason})
    end,
    loop(Table, N + 1).

fails(2, N) when N rem 3 =:= 0 -> error(even);
fails(I, N) -> I * N.
