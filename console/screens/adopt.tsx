import type { Shape } from "../../client/client.ts";
import { bodyOf } from "../forms/model/body.ts";
import { fieldsOf } from "../forms/model/fields.ts";
import type { ApiDocument } from "../forms/model/schema.ts";
import { CopyButton } from "../parts/copyable.tsx";
import { Screen } from "../parts/screen.tsx";
import { client } from "../service/client.ts";
import { href } from "../shell/href.ts";
import { useApiDocument } from "../write/api-document.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { Taken } from "../write/taken.tsx";
import { WithLoaded } from "../write/with-loaded.tsx";
import { WriteForm } from "../write/write-form.tsx";

const ADOPT = "/v1/collections/adopt";

/** Makes a contract that another party deployed a collection of the app: its owner signs a text. */
export function AdoptScreen() {
  return (
    <Screen title="Adopt a contract" trail={<a href={href("/collections")}>Collections</a>}>
      <NeedsScope scope="collections" action="adopt contracts">
        <WithLoaded loaded={useApiDocument()}>{(document) => <TextForm document={document} />}</WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

/** The first step: which contract. */
function TextForm({ document }: { document: ApiDocument }) {
  const fields = fieldsOf(document, `post ${ADOPT}/text`);
  return (
    <WriteForm
      fields={fields}
      main={[]}
      target={{ method: "POST", path: `${ADOPT}/text` }}
      submit="Show the text to sign"
      busy="Making the text …"
      bodyOf={(values) => bodyOf(fields, values)}
      call={(body) => client().POST(`${ADOPT}/text`, { body: body as unknown as Shape<"AdoptionText"> })}
      done={({ data }) => <SignatureForm document={document} text={data} />}
    >
      <p>
        Its tokens, holders and history are read from the chain. The owner of the contract has to permit it: the owner
        signs a text that names the contract and this app.
      </p>
    </WriteForm>
  );
}

/** The second step: the owner signs. */
function SignatureForm({ document, text }: { document: ApiDocument; text: Shape<"TypedText"> }) {
  const fields = fieldsOf(document, `post ${ADOPT}`);
  const shown = JSON.stringify(text, null, 2);
  const { contract: address, nonce, expiry } = text.message;
  const named = { address, nonce, expiry: Number(expiry) };
  const typed = fields.filter(({ name }) => !(name in named));
  return (
    <WriteForm
      fields={typed}
      main={["signer"]}
      concerns={{ address: "signature", nonce: "signature", expiry: "signature" }}
      target={{ method: "POST", path: ADOPT }}
      submit="Adopt the contract"
      busy="Adopting …"
      bodyOf={(values) => ({ ...named, ...bodyOf(typed, values) })}
      call={(body) => client().POST(ADOPT, { body: body as unknown as Shape<"AdoptCollection"> })}
      done={({ data, call }) => (
        <Taken title={`${data.name} is a collection of this app`} answer={data} call={call}>
          <a class="button button-primary" href={href("/collections/:address", { address: data.address })}>
            Open the collection
          </a>
        </Taken>
      )}
    >
      <p>
        Let the contract’s owner sign this text with a wallet or a tool that signs EIP-712, and paste the signature
        below. <CopyButton text={shown} what="the text to sign" />
      </p>
      <pre class="long-text" tabIndex={0} aria-label="The text to sign">
        {shown}
      </pre>
    </WriteForm>
  );
}
