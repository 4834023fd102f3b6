import { useId } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { bodyOf } from "../forms/model/body.ts";
import { fieldsOf } from "../forms/model/fields.ts";
import type { ApiDocument } from "../forms/model/schema.ts";
import { fieldsOfVariant, transferVariant } from "../forms/model/variants.ts";
import { readApiDocument } from "../write/api-document.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { RECEIVER_HELP, withReceivers } from "../write/receivers.ts";
import { Taken } from "../write/taken.tsx";
import { WalletList } from "../write/wallet-list.tsx";
import { WithLoaded } from "../write/with-loaded.tsx";
import { WriteForm } from "../write/write-form.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { Holder } from "../parts/named.tsx";
import { Picture } from "../parts/picture.tsx";
import { Screen } from "../parts/screen.tsx";
import { client } from "../service/client.ts";
import { useData } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";

const CALL = "post /v1/transfers";

/** What a wallet holds of one token. */
interface Holding {
  from: string;
  contract: string;
  tokenId: string;
  /** null: the wallet does not hold the token. */
  nft: Shape<"HeldNft"> | null;
}

/** Moves a token out of a wallet of the app. */
export function TransferScreen({ params }: ScreenProps<"from" | "contract" | "token_id">) {
  const { from, contract, token_id: tokenId } = params;
  const loaded = useData(
    () => Promise.all([readApiDocument(), readHolding(from, contract, tokenId)]),
    [from, contract, tokenId],
  );
  const token = { address: contract, token_id: tokenId };
  return (
    <Screen
      title="Transfer a token"
      trail={<a href={href("/collections/:address/:token_id", token)}>Token {tokenId}</a>}
    >
      <NeedsScope scope="transfer" action="transfer tokens">
        <WithLoaded loaded={loaded}>
          {([document, holding]) => <TransferForm document={document} holding={holding} />}
        </WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

async function readHolding(from: string, contract: string, tokenId: string): Promise<Holding> {
  const path = { address: from, contract_address: contract, token_id: tokenId };
  const get = client().GET("/v1/accounts/{address}/{contract_address}/{token_id}", { params: { path } });
  const { nfts } = await answerOf(get);
  return { from, contract, tokenId, nft: nfts[0] ?? null };
}

function TransferForm({ document, holding }: { document: ApiDocument; holding: Holding }) {
  const wallets = useId();
  const { from, contract, tokenId, nft } = holding;
  if (nft === null) {
    return (
      <EmptyState title="This wallet does not hold the token">
        Open the token to see who holds it. Only wallets of the app can transfer.
      </EmptyState>
    );
  }
  const fields = fieldsOfVariant(fieldsOf(document, CALL), transferVariant(nft.type));
  const name = nft.metadata?.name ?? `Token ${tokenId}`;
  return (
    <>
      <div class="card transferred">
        <Picture source={nft.metadata?.image} label={name} seed={`${contract} ${tokenId}`} />
        <div>
          <bdi class="tile-name">{name}</bdi>
          <p>
            Held by <Holder address={from} />
          </p>
          {nft.type === "ERC1155" && <p>{String(nft.quantity ?? 0)} copies in this wallet</p>}
        </div>
      </div>
      <WalletList id={wallets} />
      <WriteForm
        fields={fields}
        main={[]}
        target={{ method: "POST", path: "/v1/transfers" }}
        help={{ to_address: RECEIVER_HELP }}
        lists={{ to_address: wallets }}
        submit="Transfer"
        busy="Transferring …"
        prepare={(values) => withReceivers(values, ["to_address"])}
        bodyOf={(values) => ({
          from_address: from,
          contract_address: contract,
          token_id: tokenId,
          ...bodyOf(fields, values),
        })}
        call={(body, key) =>
          client().POST("/v1/transfers", {
            body: body as unknown as Shape<"Transfer">,
            headers: { "Idempotency-Key": key },
          })
        }
        done={({ data, call }) => (
          <Taken title="Your transfer" requestId={data.request_id} call={call}>
            <a class="button" href={href("/collections/:address/:token_id", { address: contract, token_id: tokenId })}>
              Open the token
            </a>
          </Taken>
        )}
      />
    </>
  );
}
