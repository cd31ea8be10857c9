"""A client made from the API's document by openapi-python-client: it gets a token, checks somebody
in, and reads what the server answers."""

import sys

from gatepost_client import AuthenticatedClient, Client
from gatepost_client.api.authentication import token
from gatepost_client.api.delegates import create_delegate, get_delegate
from gatepost_client.api.devices import create_device
from gatepost_client.api.interactions import create_interaction
from gatepost_client.models import (
    DelegateInput,
    DeviceInput,
    Error,
    GetDelegateIdType,
    InteractionInput,
    TokenRequest,
    TokenRequestGrantType,
)

base_url, client_id, client_secret = sys.argv[1:]

granted = token.sync(
    client=Client(base_url=base_url),
    body=TokenRequest(
        grant_type=TokenRequestGrantType.CLIENT_CREDENTIALS,
        client_id=client_id,
        client_secret=client_secret,
    ),
)
client = AuthenticatedClient(base_url=base_url, token=granted.access_token)
device = create_device.sync(client=client, body=DeviceInput.from_dict(
    {"code": "py-hall", "name": "Hall", "data": {"Access": {"entry": "single"}}}
))
assert device.data.data.access.entry == "single", device
made = create_delegate.sync(
    client=client, body=DelegateInput(barcode="PY-1", first_name="Ada"), idempotency_key="py-1"
)
assert made.data.barcode == "PY-1", made

scan = InteractionInput(first_delegate="barcode:PY-1", first_device="code:py-hall")
entered = create_interaction.sync("check-in", client=client, body=scan)
assert entered.data.interaction_type == "check-in", entered
again = create_interaction.sync("check-in", client=client, body=scan)
assert isinstance(again, Error) and again.meta.error.internal_code == 740, again

read = get_delegate.sync(GetDelegateIdType.BARCODE, "PY-1", client=client)
assert [one.id for one in read.data.first_interactions] == [entered.data.id], read
print("checked in", entered.data.id)
