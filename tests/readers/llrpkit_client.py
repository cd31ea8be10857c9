"""llrpkit's client against a reader, for the tests of our emulator.

Takes the port. Writes what the reader says it is, then `connected` when a second client was refused, then so
many reads as it is asked for: a line of JSON each.
"""

import asyncio
import json
import sys

from llrpkit import Reader
from llrpkit.exceptions import LLRPConnectionError


def write(message):
    print(json.dumps(message), flush=True)


async def main(port, count):
    async with Reader("127.0.0.1", port) as reader:
        powers = reader.capabilities.transmit_powers
        write({"antennas": reader.max_antennas, "firmware": reader.firmware, "powers": [min(powers.values()), max(powers.values())]})
        await reader.set_keepalive(100)
        try:
            async with Reader("127.0.0.1", port):
                write("a second client was connected")
        except LLRPConnectionError:
            write("refused")
        async for tag in reader.inventory(antennas=[1, 2], tx_power_dbm=21.0, max_tags=count):
            write({"epc": tag.epc_hex, "antenna": tag.antenna, "rssi": tag.rssi_dbm, "lastSeenUs": tag.last_seen_us})
    write("closed")


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
