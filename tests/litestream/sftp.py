"""An SFTP account in a folder: its keys are made there, its port is printed once it listens."""

import asyncio
import pathlib
import sys

import asyncssh


async def main(folder: pathlib.Path, port: int) -> None:
    for name in ("host", "client"):
        if not (folder / name).exists():
            key = asyncssh.generate_private_key("ssh-ed25519")
            key.write_private_key(folder / name)
            key.write_public_key(folder / f"{name}.pub")
    server = await asyncssh.listen(
        "127.0.0.1",
        port,
        server_host_keys=[folder / "host"],
        authorized_client_keys=str(folder / "client.pub"),
        sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(folder).encode()),
    )
    print(server.get_port(), flush=True)
    await server.wait_closed()


asyncio.run(main(pathlib.Path(sys.argv[1]), int(sys.argv[2])))
