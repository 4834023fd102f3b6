import { useId, useState } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { bodyOf } from "../forms/model/body.ts";
import { fieldsOf } from "../forms/model/fields.ts";
import type { ApiDocument } from "../forms/model/schema.ts";
import { fieldsOfVariant, type MintVariant, mintVariant } from "../forms/model/variants.ts";
import { readApiDocument } from "../write/api-document.ts";
import { readCollection } from "../service/collections.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { RECEIVER_HELP, withReceivers } from "../write/receivers.ts";
import { Taken } from "../write/taken.tsx";
import { WalletList } from "../write/wallet-list.tsx";
import { WithLoaded } from "../write/with-loaded.tsx";
import { WriteForm } from "../write/write-form.tsx";
import { Screen } from "../parts/screen.tsx";
import { client } from "../service/client.ts";
import { mayUse } from "../service/session.ts";
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
          {([document, collection]) => <MintForm document={document} collection={collection} />}
        </WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

interface MintFormProps {
  document: ApiDocument;
  collection: Shape<"Collection">;
}

function MintForm({ document, collection }: MintFormProps) {
  const [variant, setVariant] = useState<MintVariant>("new");
  const wallets = useId();
  const fields = fieldsOfVariant(fieldsOf(document, CALL), mintVariant(collection, variant));
  const isHosted = collection.hosting === "hosted" && variant === "new";
  const { address, name } = collection;
  return (
    <>
      <p class="muted">
        Into <bdi>{name}</bdi> ({collection.type}, {collection.hosting}). For many tokens, use{" "}
        <a href={href("/collections/:address/import", { address })}>a CSV file</a>.
      </p>
      <WalletList id={wallets} />
      <WriteForm
        key={variant}
        fields={fields}
        main={["name", "description", "image", "attributes"]}
        files={mayUse("media") ? ["image", "animation_url"] : []}
        help={{ to_address: RECEIVER_HELP, initial_owner: RECEIVER_HELP }}
        lists={{ to_address: wallets, initial_owner: wallets }}
        submit="Mint"
        busy="Minting …"
        prepare={(values) => withReceivers(values, RECEIVERS)}
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
            requestId={data.request_id}
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
        {collection.type === "ERC1155" && <VariantChoice variant={variant} onChange={setVariant} />}
      </WriteForm>
    </>
  );
}

interface VariantProps {
  variant: MintVariant;
  onChange: (variant: MintVariant) => void;
}

function VariantChoice({ variant, onChange }: VariantProps) {
  const option = (value: MintVariant, label: string) => (
    <label class="form-option">
      <input type="radio" name="variant" value={value} checked={variant === value} onChange={() => onChange(value)} />
      {label}
    </label>
  );
  return (
    <fieldset class="form-options">
      <legend>What to mint</legend>
      {option("new", "A new token id")}
      {option("copies", "More copies of an existing id")}
    </fieldset>
  );
}
