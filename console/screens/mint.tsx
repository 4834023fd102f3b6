import { useId, useState } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { bodyOf } from "../forms/model/body.ts";
import { fieldsOf } from "../forms/model/fields.ts";
import type { ApiDocument } from "../forms/model/schema.ts";
import { fieldsOfVariant, type MintVariant, mintVariant } from "../forms/model/variants.ts";
import { readApiDocument } from "../write/api-document.ts";
import { closedBecause, readCollection } from "../service/collections.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { receiverNotes } from "../write/receiver-note.tsx";
import { RECEIVER_HELP, withReceivers } from "../write/receivers.ts";
import { Taken } from "../write/taken.tsx";
import { WalletList } from "../write/wallet-list.tsx";
import { WithLoaded } from "../write/with-loaded.tsx";
import { WriteForm } from "../write/write-form.tsx";
import { Screen } from "../parts/screen.tsx";
import { client } from "../service/client.ts";
import { useData } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { PreviewCard } from "../write/preview-card.tsx";

const CALL = "post /v1/nfts";
const RECEIVERS = ["to_address", "initial_owner"];

/** Mints one token of a collection, with a picture and a preview. */
export function MintScreen({ params }: ScreenProps<"address">) {
  const { address } = params;
  const loaded = useData(() => Promise.all([readApiDocument(), readCollection(address)]), [address]);
  return (
    <Screen
      title="Mint a token"
      trail={<a href={href("/collections/:address", { address })}>{loaded.data?.[1].name ?? "Collection"}</a>}
    >
      <NeedsScope scope="mint" action="mint tokens">
        <WithLoaded loaded={loaded}>
          {([document, collection]) => {
            const closed = closedBecause(collection);
            if (closed !== null && collection.type === "ERC721")
              return <p class="note">{closed} No new token can be minted.</p>;
            return <MintForm document={document} collection={collection} closed={closed} />;
          }}
        </WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

interface MintFormProps {
  document: ApiDocument;
  collection: Shape<"Collection">;
  /** Why there can be no new ids; null when there can. */
  closed: string | null;
}

function MintForm({ document, collection, closed }: MintFormProps) {
  const [variant, setVariant] = useState<MintVariant>(closed === null ? "new" : "copies");
  const wallets = useId();
  const fields = fieldsOfVariant(fieldsOf(document, CALL), mintVariant(collection, variant));
  const isHosted = collection.hosting === "hosted" && variant === "new";
  const { address, name, type } = collection;
  return (
    <>
      <p class="muted">
        Into <bdi>{name}</bdi> ({collection.type}, {collection.hosting}). For many tokens, use{" "}
        <a href={href("/collections/:address/import", { address })}>a folder or a table</a>.
      </p>
      <WalletList id={wallets} />
      <WriteForm
        key={variant}
        fields={fields}
        main={["name", "description", "image", "attributes"]}
        help={{ to_address: RECEIVER_HELP, initial_owner: RECEIVER_HELP }}
        lists={{ to_address: wallets, initial_owner: wallets }}
        notes={receiverNotes(RECEIVERS, address)}
        target={{ method: "POST", path: "/v1/nfts" }}
        submit="Mint"
        busy="Minting …"
        prepare={(values) => withReceivers(values, RECEIVERS, address)}
        bodyOf={(values) => ({ collection_address: address, ...bodyOf(fields, values) })}
        call={(body, key) =>
          client().POST("/v1/nfts", { body: body as unknown as Shape<"Mint">, headers: { "Idempotency-Key": key } })
        }
        {...(isHosted && {
          preview: (values, pictures) => (
            <PreviewCard collection={name} address={address} values={values} file={pictures["image"] ?? null} />
          ),
        })}
        done={({ data, call }, again) => (
          <Taken
            title={variant === "new" ? "Your new token" : "Your new copies"}
            answer={data}
            call={call}
            next={({ nft_token_id: id }) =>
              id === null ? null : (
                <a
                  class="button button-primary"
                  href={href("/collections/:address/:token_id", { address, token_id: id })}
                >
                  Open the token
                </a>
              )
            }
          >
            <button type="button" class="button" onClick={again}>
              Mint another
            </button>
          </Taken>
        )}
      >
        {type === "ERC1155" && <VariantChoice variant={variant} closed={closed} onChange={setVariant} />}
      </WriteForm>
    </>
  );
}

interface VariantProps extends Pick<MintFormProps, "closed"> {
  variant: MintVariant;
  onChange: (variant: MintVariant) => void;
}

function VariantChoice({ variant, closed, onChange }: VariantProps) {
  const option = (value: MintVariant, label: string, disabled = false) => (
    <label class="form-option">
      <input
        type="radio"
        name="variant"
        value={value}
        checked={variant === value}
        disabled={disabled}
        onChange={() => onChange(value)}
      />
      {label}
    </label>
  );
  return (
    <fieldset class="form-options">
      <legend>What to mint</legend>
      {option("new", "A new token id", closed !== null)}
      {option("copies", "More copies of an existing id")}
      {closed !== null && <p class="muted">{closed} There can be no new ids.</p>}
    </fieldset>
  );
}
