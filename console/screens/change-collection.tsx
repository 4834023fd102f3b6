import type { Shape } from "../../client/client.ts";
import { changesOf } from "../forms/model/body.ts";
import { fieldsOf } from "../forms/model/fields.ts";
import type { ApiDocument } from "../forms/model/schema.ts";
import { readApiDocument } from "../write/api-document.ts";
import { readCollection } from "../service/collections.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { Taken } from "../write/taken.tsx";
import { WithLoaded } from "../write/with-loaded.tsx";
import { WriteForm } from "../write/write-form.tsx";
import { Screen } from "../parts/screen.tsx";
import { client } from "../service/client.ts";
import { useData } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { NOTHING_CHANGED, titleOfChange } from "../write/change-words.ts";

const CALL = "patch /v1/collections/{address}";

/** Changes the metadata of a hosted collection. */
export function ChangeCollectionScreen({ params }: ScreenProps<"address">) {
  const { address } = params;
  const loaded = useData(() => Promise.all([readApiDocument(), readCollection(address)]), [address]);
  return (
    <Screen
      title="Change the collection"
      trail={<a href={href("/collections/:address", { address })}>{loaded.data?.[1].name ?? "Collection"}</a>}
    >
      <NeedsScope scope="collections" action="change metadata">
        <WithLoaded loaded={loaded}>
          {([document, collection]) => <ChangeForm document={document} collection={collection} />}
        </WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

interface FormProps {
  document: ApiDocument;
  collection: Shape<"Collection">;
}

function ChangeForm({ document, collection }: FormProps) {
  const fields = fieldsOf(document, CALL);
  const { address } = collection;
  if (collection.hosting !== "hosted") {
    return <p class="note">Your own server serves the metadata of this collection. Change it there.</p>;
  }
  const known = { ...collection };
  return (
    <WriteForm
      fields={fields}
      known={known}
      main={fields.map(({ name }) => name)}
      target={{ method: "PATCH", path: "/v1/collections/{address}", pathParams: { address } }}
      submit="Save"
      busy="Saving …"
      bodyOf={(values) => {
        const changes = changesOf(fields, values, known);
        return Object.keys(changes).length === 0 ? NOTHING_CHANGED : changes;
      }}
      call={(body) => client().PATCH("/v1/collections/{address}", { params: { path: { address } }, body })}
      done={({ data, call }, again) => (
        <Taken title={titleOfChange(data.request_id)} answer={data} call={call}>
          <a class="button" href={href("/collections/:address", { address })}>
            Open the collection
          </a>
          <button type="button" class="button" onClick={again}>
            Change more
          </button>
        </Taken>
      )}
    />
  );
}
