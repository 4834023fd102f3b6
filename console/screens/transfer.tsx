import type { ComponentProps, ComponentType } from "preact";
import { useId } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { bodyOf } from "../forms/model/body.ts";
import { fieldsOf } from "../forms/model/fields.ts";
import type { ApiDocument } from "../forms/model/schema.ts";
import { burnVariant, fieldsOfVariant, transferVariant } from "../forms/model/variants.ts";
import { readApiDocument } from "../write/api-document.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { receiverNotes } from "../write/receiver-note.tsx";
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

/** What a wallet holds of one token. */
interface Holding {
  from: string;
  contract: string;
  tokenId: string;
  nft: Shape<"HeldNft">;
}

type Props = ScreenProps<"from" | "contract" | "token_id">;
interface FormProps {
  document: ApiDocument;
  holding: Holding;
}

/** Moves a token out of a wallet of the app. */
export function TransferScreen(props: Props) {
  return <HoldingScreen {...props} title="Transfer a token" action="transfer tokens" form={TransferForm} />;
}

/** Burns a token of a wallet of the app. */
export function BurnScreen(props: Props) {
  return <HoldingScreen {...props} title="Burn a token" action="burn tokens" form={BurnForm} />;
}

interface HoldingScreenProps extends Props {
  title: string;
  action: string;
  form: ComponentType<FormProps>;
}

function HoldingScreen({ params, title, action, form: Form }: HoldingScreenProps) {
  const { from, contract, token_id: tokenId } = params;
  const loaded = useData(
    () => Promise.all([readApiDocument(), readHeld(from, contract, tokenId)]),
    [from, contract, tokenId],
  );
  const token = { address: contract, token_id: tokenId };
  return (
    <Screen title={title} trail={<a href={href("/collections/:address/:token_id", token)}>Token {tokenId}</a>}>
      <NeedsScope scope="transfer" action={action}>
        <WithLoaded loaded={loaded}>
          {([document, nft]) =>
            nft === null ? (
              <EmptyState title="This wallet does not hold the token">
                Open the token to see who holds it. Only wallets of the app can {action}.
              </EmptyState>
            ) : (
              <>
                <HeldCard from={from} nft={nft} />
                <Form document={document} holding={{ from, contract, tokenId, nft }} />
              </>
            )
          }
        </WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

/** @returns null when the wallet does not hold the token. */
async function readHeld(from: string, contract: string, tokenId: string): Promise<Shape<"HeldNft"> | null> {
  const path = { address: from, contract_address: contract, token_id: tokenId };
  const get = client().GET("/v1/accounts/{address}/{contract_address}/{token_id}", { params: { path } });
  const { nfts } = await answerOf(get);
  return nfts[0] ?? null;
}

function HeldCard({ from, nft }: { from: string; nft: Shape<"HeldNft"> }) {
  const name = nft.metadata?.name ?? `Token ${String(nft.token_id)}`;
  return (
    <div class="card transferred">
      <Picture source={nft.metadata?.image} label={name} seed={`${nft.contract_address} ${String(nft.token_id)}`} />
      <div>
        <bdi class="tile-name">{name}</bdi>
        <p>
          Held by <Holder address={from} />
        </p>
        {nft.type === "ERC1155" && <p>{String(nft.quantity ?? 0)} copies in this wallet</p>}
      </div>
    </div>
  );
}

function TransferForm({ document, holding }: FormProps) {
  const wallets = useId();
  const { contract } = holding;
  const fields = fieldsOfVariant(fieldsOf(document, "post /v1/transfers"), transferVariant(holding.nft.type));
  return (
    <>
      <WalletList id={wallets} />
      <WriteForm
        fields={fields}
        main={[]}
        concerns={concernsOf(holding)}
        target={{ method: "POST", path: "/v1/transfers" }}
        help={{ to_address: RECEIVER_HELP }}
        lists={{ to_address: wallets }}
        notes={receiverNotes(["to_address"], contract)}
        submit="Transfer"
        busy="Transferring …"
        prepare={(values) => withReceivers(values, ["to_address"], contract)}
        bodyOf={(values) => ({ ...tokenOf(holding), ...bodyOf(fields, values) })}
        call={(body, key) =>
          client().POST("/v1/transfers", {
            body: body as unknown as Shape<"Transfer">,
            headers: { "Idempotency-Key": key },
          })
        }
        done={({ data, call }) => <Done title="Your transfer" holding={holding} answer={data} call={call} />}
      />
    </>
  );
}

function BurnForm({ document, holding }: FormProps) {
  const fields = fieldsOfVariant(fieldsOf(document, "post /v1/burns"), burnVariant(holding.nft.type));
  const isSingle = holding.nft.type === "ERC721";
  const what = isSingle ? "The token is" : "The copies are";
  return (
    <WriteForm
      fields={fields}
      main={[]}
      concerns={concernsOf(holding)}
      target={{ method: "POST", path: "/v1/burns" }}
      submit="Burn for ever"
      busy="Burning …"
      confirm={{
        title: "This cannot be undone",
        text: `${what} destroyed on the chain. Nobody can bring back what is burnt, also not the service.`,
      }}
      bodyOf={(values) => ({ ...tokenOf(holding), ...bodyOf(fields, values) })}
      call={(body, key) =>
        client().POST("/v1/burns", { body: body as unknown as Shape<"Burn">, headers: { "Idempotency-Key": key } })
      }
      done={({ data, call }) => <Done title="Your burn" holding={holding} answer={data} call={call} />}
    >
      <p class="note note-warning">
        <strong>This can never be undone.</strong> {what} destroyed
        {isSingle ? ", and the number of the token is never used again." : "."}
      </p>
    </WriteForm>
  );
}

/** The token is fixed: what is wrong with it for the service is the number of copies. */
function concernsOf({ nft }: Holding): Record<string, string> {
  return nft.type === "ERC1155" ? { token_id: "amount" } : {};
}

function tokenOf({ from, contract, tokenId }: Holding) {
  return { from_address: from, contract_address: contract, token_id: tokenId };
}

interface DoneProps extends Pick<ComponentProps<typeof Taken>, "title" | "answer" | "call"> {
  holding: Holding;
}

function Done({ holding: { contract, tokenId }, ...taken }: DoneProps) {
  return (
    <Taken {...taken}>
      <a class="button" href={href("/collections/:address/:token_id", { address: contract, token_id: tokenId })}>
        Open the token
      </a>
    </Taken>
  );
}
