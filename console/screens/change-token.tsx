import { answerOf, type Shape } from "../../client/client.ts";
import { changesOf } from "../forms/model/body.ts";
import { fieldsOf } from "../forms/model/fields.ts";
import type { ApiDocument } from "../forms/model/schema.ts";
import { readApiDocument } from "../write/api-document.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { Taken } from "../write/taken.tsx";
import { WithLoaded } from "../write/with-loaded.tsx";
import { WriteForm } from "../write/write-form.tsx";
import { Screen } from "../parts/screen.tsx";
import { client } from "../service/client.ts";
import { useData } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { PreviewCard } from "../write/preview-card.tsx";
import { NOTHING_CHANGED, titleOfChange } from "../write/change-words.ts";

const CALL = "patch /v1/collections/{address}/{token_id}";
const PATH = "/v1/collections/{address}/{token_id}";

interface Token {
  address: string;
  token_id: string;
}

type Nft = Shape<"Erc721Nft"> | Shape<"Erc1155Nft">;

/** Changes the metadata of a hosted token. */
export function ChangeTokenScreen({ params }: ScreenProps<"address" | "token_id">) {
  const { address, token_id } = params;
  const loaded = useData(
    () => Promise.all([readApiDocument(), answerOf(client().GET(PATH, { params: { path: { address, token_id } } }))]),
    [address, token_id],
  );
  return (
    <Screen
      title="Change the token"
      trail={<a href={href("/collections/:address/:token_id", { address, token_id })}>Token {token_id}</a>}
    >
      <NeedsScope scope="collections" action="change metadata">
        <WithLoaded loaded={loaded}>
          {([document, nft]) => <ChangeForm document={document} nft={nft} token={{ address, token_id }} />}
        </WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

interface FormProps {
  document: ApiDocument;
  nft: Nft;
  token: Token;
}

function ChangeForm({ document, nft, token }: FormProps) {
  const fields = fieldsOf(document, CALL);
  if (nft.metadata === null) {
    return <p class="note">The service does not host the metadata of this token. Change it where it is hosted.</p>;
  }
  const known = { ...nft.metadata };
  return (
    <WriteForm
      fields={fields}
      known={known}
      main={["name", "description", "image", "attributes"]}
      target={{ method: "PATCH", path: PATH, pathParams: { ...token } }}
      submit="Save"
      busy="Saving …"
      bodyOf={(values) => {
        const changes = changesOf(fields, values, known);
        return Object.keys(changes).length === 0 ? NOTHING_CHANGED : changes;
      }}
      call={(body) => client().PATCH(PATH, { params: { path: token }, body })}
      preview={(values, pictures) => (
        <PreviewCard
          collection={nft.collection_name ?? ""}
          address={token.address}
          values={values}
          file={pictures["image"] ?? null}
        />
      )}
      done={({ data, call }, again) => (
        <Taken title={titleOfChange(data.request_id)} answer={data} call={call}>
          <a class="button" href={href("/collections/:address/:token_id", { ...token })}>
            Open the token
          </a>
          <button type="button" class="button" onClick={again}>
            Change more
          </button>
        </Taken>
      )}
    />
  );
}
