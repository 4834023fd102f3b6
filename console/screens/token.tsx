import { answerOf, type Shape } from "../../client/client.ts";
import { Address } from "../parts/copyable.tsx";
import { CopyAs } from "../parts/copy-as.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loading } from "../parts/loading.tsx";
import { LongText } from "../parts/long-text.tsx";
import { Screen } from "../parts/screen.tsx";
import { TokenMedia } from "../parts/token-media.tsx";
import { tokenName } from "../parts/token-tile.tsx";
import { WebLink } from "../parts/web-link.tsx";
import { callOf, client } from "../service/client.ts";
import { dateTime } from "../service/format.ts";
import { explorerLink } from "../service/links.ts";
import { useLive } from "../service/live.ts";
import { useData } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { TokenOffers } from "../write/offers.tsx";
import { Attributes, Metadata } from "./token-metadata.tsx";
import { Owners } from "./token-owners.tsx";
import { TokenHistory } from "./token-history.tsx";

export type Token = Shape<"Erc721Nft"> | Shape<"Erc1155Nft">;

/** A token: its picture or video, attributes, owners, history and metadata. */
export function TokenScreen({ params }: ScreenProps<"address" | "token_id">) {
  const { address, token_id: id } = params;
  const token = useData(async () => {
    const outcome = await client().GET("/v1/collections/{address}/{token_id}", { params: { path: params } });
    return { token: await answerOf<Token>(outcome), call: callOf(outcome.response) };
  }, []);
  useLive(({ type, nft_collection: collection }) => {
    if (type === "completed" && (collection === undefined || collection === address)) token.reload();
  });
  const { data } = token;
  const title = data === null ? `Token ${id}` : tokenName(data.token);
  return (
    <Screen
      title={title}
      actions={data === null ? undefined : <TokenOffers token={data.token} />}
      trail={
        <>
          <a href={href("/collections")}>Collections</a>
          <span aria-hidden="true">/</span>
          <a href={href("/collections/:address", { address })}>
            <bdi>{data?.token.collection_name ?? "Collection"}</bdi>
          </a>
          <span aria-hidden="true">/</span>
          <bdi>{title}</bdi>
        </>
      }
    >
      {token.error !== null && <ErrorNote error={token.error} retry={token.reload} />}
      {data === null && token.loading && <Loading />}
      {data !== null && (
        <>
          <Details token={data.token} />
          <TokenHistory address={address} id={id} version={data} />
          <Metadata token={data.token} />
          <CopyAs call={data.call} />
        </>
      )}
    </Screen>
  );
}

function Details({ token }: { token: Token }) {
  const { metadata, contract_address: address, token_id: id } = token;
  const explorer = explorerLink({ token: address, id: String(id) });
  return (
    <div class="detail">
      <TokenMedia token={token} />
      <div class="stack">
        {typeof metadata?.description === "string" && metadata.description !== "" && (
          <LongText label="Description" text={metadata.description} />
        )}
        <Facts
          facts={[
            ["Token", `#${String(id)}`],
            ["Contract", <Address key="contract" value={address} link={explorerLink({ address })} />],
            ["Kind", token.type],
            ["Minted", token.minted_at === null ? null : dateTime(token.minted_at)],
            ["Final", token.final ? "yes" : "no: a reorg can still undo the last change"],
            [
              "Website",
              typeof metadata?.external_url === "string" ? <WebLink address={metadata.external_url} /> : null,
            ],
            ["Explorer", explorer === null ? null : <WebLink address={explorer}>Show the token</WebLink>],
          ]}
        />
        <Owners token={token} />
        <Attributes address={address} attributes={metadata?.attributes} />
      </div>
    </div>
  );
}
