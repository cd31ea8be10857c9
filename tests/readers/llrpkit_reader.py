"""An LLRP reader of llrpkit's, for the tests of our client.

Listens on the port that it is given (0: a free one) and writes a line of JSON with the port. Commands come
by standard input, a line each; each is answered by a line. It ends when standard input does.

    cut             ends the client's connection
    freeze          does nothing at all until the next line
    antenna 2 off   pulls out an antenna's cable; `on` plugs it in
"""

import asyncio
import json
import sys

from llrpkit.emulator import LLRPEmulator
from llrpkit.emulator.core import EmulatedTag

TAGS = [
    EmulatedTag(epc=bytes.fromhex("303400000000000000000001"), antennas=(1,), rssi_dbm=-48.0),
    EmulatedTag(epc=bytes.fromhex("303400000000000000000002"), antennas=(2,), rssi_dbm=-58.0),
    EmulatedTag(epc=bytes.fromhex("3034000000000000000000000003"), antennas=(1,), rssi_dbm=-50.0),
]


def answer(message):
    print(json.dumps(message), flush=True)


async def main():
    emulator = LLRPEmulator(port=int(sys.argv[1]), tags=TAGS, reads_per_sec=200.0, antenna_count=2)
    async with emulator:
        answer({"port": emulator.port})
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            match line.split():
                case ["cut"]:
                    emulator._writer.transport.abort()
                    answer("cut")
                case ["freeze"]:
                    answer("frozen")
                    # In the event loop, on purpose.
                    sys.stdin.readline()
                    answer("thawed")
                case ["antenna", antenna, state]:
                    await emulator.set_antenna_connected(int(antenna), state == "on")
                    answer("antenna")


asyncio.run(main())
