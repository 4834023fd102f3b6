import { useState } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { CursorList } from "../parts/cursor-list.tsx";
import { ConfirmDialog } from "../parts/dialog.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { LastCall } from "../parts/last-call.tsx";
import { Screen } from "../parts/screen.tsx";
import { Secret } from "../parts/secret.tsx";
import { Table } from "../parts/table.tsx";
import { toast } from "../parts/toasts.tsx";
import { Age, Moment } from "../parts/when.tsx";
import { client } from "../service/client.ts";
import { usePages } from "../service/use-data.ts";
import { CreateToken } from "./create-token.tsx";

type Token = Shape<"Token">;

/** The API keys of the app. The API calls them tokens, as it does NFTs: here they have another name. */
export function TokensScreen() {
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const pages = usePages(async (cursor) => {
    const query = cursor === undefined ? {} : { cursor };
    const { tokens, next } = await answerOf(client().GET("/v1/tokens", { params: { query } }));
    return { items: tokens, next };
  }, []);
  const actions = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      Create an API key
    </Button>
  );
  return (
    <Screen title="API keys" actions={actions}>
      <p class="muted">
        A program sends an API key with each call, as its token (<code>MONETA_TOKEN</code>). Give each program its own.
      </p>
      {secret !== null && (
        <Secret title="The new API key" text={secret} onDone={() => setSecret(null)}>
          Who has the key can do everything that its scopes allow.
        </Secret>
      )}
      <LastCall />
      <CursorList
        pages={pages}
        empty={<EmptyState title="No API keys yet">Create one, and use it in your program.</EmptyState>}
      >
        {(tokens) => <TokensTable tokens={tokens} onRevoke={setRevoking} />}
      </CursorList>
      {creating && (
        <CreateToken
          onClose={() => setCreating(false)}
          onCreated={(text) => {
            setSecret(text);
            pages.reload();
          }}
        />
      )}
      {revoking !== null && <Revoke token={revoking} onClose={() => setRevoking(null)} onRevoked={pages.reload} />}
    </Screen>
  );
}

function TokensTable({ tokens, onRevoke }: { tokens: readonly Token[]; onRevoke: (token: Token) => void }) {
  return (
    <Table
      caption="API keys of the app"
      rows={tokens}
      keyOf={(token) => token.token_id}
      columns={[
        { head: "Name", cell: ({ name }) => <bdi>{name}</bdi> },
        { head: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
        { head: "State", cell: (token) => <State token={token} /> },
        { head: "Created", cell: ({ created_at }) => <Age time={created_at} /> },
        { head: "Expires", cell: ({ expires_at: at }) => (at === null ? "never" : <Moment time={at} />) },
        {
          head: "Revoke",
          right: true,
          cell: (token) =>
            isValid(token) && (
              <Button kind="danger" aria-label={`Revoke ${token.name}`} onClick={() => onRevoke(token)}>
                Revoke
              </Button>
            ),
        },
      ]}
    />
  );
}

function State({ token }: { token: Token }) {
  if (isValid(token)) return <Badge kind="good">Valid</Badge>;
  return <Badge>{token.revoked_at === null ? "Expired" : "Revoked"}</Badge>;
}

function isValid({ revoked_at: revoked, expires_at: expires }: Token): boolean {
  return revoked === null && (expires === null || Date.parse(expires) > Date.now());
}

function Revoke({ token, onClose, onRevoked }: { token: Token; onClose: () => void; onRevoked: () => void }) {
  return (
    <ConfirmDialog
      title="Revoke the API key?"
      action="Revoke"
      onClose={onClose}
      onConfirm={async () => {
        const path = { token_id: token.token_id };
        await answerOf(client().DELETE("/v1/tokens/{token_id}", { params: { path } }));
        toast("The API key is revoked.");
        onRevoked();
      }}
    >
      <p>
        Programs that use <bdi>{token.name}</bdi> are refused at once. A revoked key never works again.
      </p>
    </ConfirmDialog>
  );
}
