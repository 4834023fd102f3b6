import { useState } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { fieldsOf } from "../forms/model/fields.ts";
import type { ApiDocument } from "../forms/model/schema.ts";
import { bodyOf } from "../forms/model/body.ts";
import { type CollectionKind, createVariant, fieldsOfVariant } from "../forms/model/variants.ts";
import { useApiDocument } from "../write/api-document.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { Taken } from "../write/taken.tsx";
import { WithLoaded } from "../write/with-loaded.tsx";
import { WriteForm } from "../write/write-form.tsx";
import { Screen } from "../parts/screen.tsx";
import { client } from "../service/client.ts";
import { href } from "../shell/href.ts";

const CALL = "post /v1/collections";

/** Creates a collection, hosted or self-hosted, of ERC721 or ERC1155 tokens. */
export function CreateCollectionScreen() {
  return (
    <Screen title="Create a collection" trail={<a href={href("/collections")}>Collections</a>}>
      <NeedsScope scope="collections" action="create collections">
        <WithLoaded loaded={useApiDocument()}>{(document) => <CreateForm document={document} />}</WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

function CreateForm({ document }: { document: ApiDocument }) {
  const [kind, setKind] = useState<CollectionKind>({ type: "ERC721", hosting: "hosted" });
  const fields = fieldsOfVariant(fieldsOf(document, CALL), createVariant(kind));
  return (
    <WriteForm
      key={`${kind.type} ${kind.hosting}`}
      fields={fields}
      main={["description", "image", "mint_supply_count", "collection_uri"]}
      target={{ method: "POST", path: "/v1/collections" }}
      submit="Create the collection"
      busy="Creating …"
      bodyOf={(values) => ({ type: kind.type, ...bodyOf(fields, values) })}
      call={(body, key) =>
        client().POST("/v1/collections", {
          body: body as unknown as Shape<"CreateCollection">,
          headers: { "Idempotency-Key": key },
        })
      }
      done={({ data, call }, again) => (
        <Taken
          title="Your new collection"
          answer={data}
          call={call}
          next={(request) => (
            <a
              class="button button-primary"
              href={href("/collections/:address", { address: request.nft_collection ?? "" })}
            >
              Open the collection
            </a>
          )}
        >
          <button type="button" class="button" onClick={again}>
            Create another collection
          </button>
        </Taken>
      )}
    >
      <KindChoice kind={kind} onChange={setKind} />
    </WriteForm>
  );
}

interface KindProps {
  kind: CollectionKind;
  onChange: (kind: CollectionKind) => void;
}

/** The two choices that decide which fields the form has. */
function KindChoice({ kind, onChange }: KindProps) {
  return (
    <>
      <Options
        legend="Tokens"
        name="type"
        value={kind.type}
        options={[
          { value: "ERC721", label: "ERC721", help: "Each token is unique." },
          { value: "ERC1155", label: "ERC1155", help: "A token id can have many copies." },
        ]}
        onChange={(type) => onChange({ ...kind, type })}
      />
      <Options
        legend="Metadata"
        name="hosting"
        value={kind.hosting}
        options={[
          { value: "hosted", label: "Hosted", help: "This service stores and serves the metadata." },
          { value: "self-hosted", label: "Self-hosted", help: "Your own server serves the metadata." },
        ]}
        onChange={(hosting) => onChange({ ...kind, hosting })}
      />
    </>
  );
}

interface OptionsProps<V extends string> {
  legend: string;
  name: string;
  value: V;
  options: readonly { value: V; label: string; help: string }[];
  onChange: (value: V) => void;
}

function Options<V extends string>({ legend, name, value, options, onChange }: OptionsProps<V>) {
  return (
    <fieldset class="form-options">
      <legend>{legend}</legend>
      {options.map((option) => (
        <label key={option.value} class="form-option">
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>
            <strong>{option.label}</strong> <span class="hint">{option.help}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
