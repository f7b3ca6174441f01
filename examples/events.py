#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A server in asyncio: each event of a segment is a request, which it answers by an event."""

import asyncio

import rsm

REQUESTS = 3


async def serve(segment):
    for _ in range(REQUESTS):
        await segment.event()
        segment.memory[8:16] = bytes(segment.memory[:8][::-1])
        segment.post()


async def ask(connection, question):
    connection.put(0, question)
    connection.post()
    await asyncio.wait_for(connection.event(), 30)
    return connection.get(8, 8)


async def main():
    with rsm.Export(4096) as segment, rsm.Import(segment.publish()) as connection:
        server = asyncio.create_task(serve(segment))
        for _ in range(REQUESTS):
            answer = await ask(connection, b"question")
            print(answer)
            assert answer == b"noitseuq"
        await server

asyncio.run(main())
