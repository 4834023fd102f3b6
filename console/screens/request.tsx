import { answerOf } from "../../client/client.ts";
import { StateBadge } from "../parts/badge.tsx";
import { Address, Copyable, CopyButton } from "../parts/copyable.tsx";
import { CopyAs } from "../parts/copy-as.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import { CollectionName, Holder } from "../parts/named.tsx";
import { Prose } from "../parts/prose.tsx";
import { Screen } from "../parts/screen.tsx";
import { Age, Ether, Moment } from "../parts/when.tsx";
import { client } from "../service/client.ts";
import { shortHex } from "../service/format.ts";
import { explorerLink } from "../service/links.ts";
import { useLive } from "../service/live.ts";
import { SERVICE_URL } from "../service/session.ts";
import { useData } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { useRequest } from "../write/follow-request.ts";
import { SendAgain } from "./request-again.tsx";
import { RequestsTable } from "./requests.tsx";
import { type Remedy, remediesOf, type Request, stateSentence, TYPE_NAMES } from "./request-state.ts";

/** One request. Events change it while it is shown. */
export function RequestScreen({ params }: ScreenProps<"request_id">) {
  const { request_id: id } = params;
  const { data, error, reload } = useRequest(id);
  const title = `${data === null ? "Request" : TYPE_NAMES[data.type]} ${shortHex(id)}`;
  return (
    <Screen title={title} trail={<a href={href("/requests")}>Requests</a>}>
      {error !== null && <ErrorNote error={error} retry={reload} />}
      {data === null && error === null && <Loading />}
      {data !== null && <Details request={data} />}
    </Screen>
  );
}

function Details({ request }: { request: Request }) {
  const { request_id, status, transaction_hash: hash } = request;
  const call = { method: "GET", path: "/v1/requests/{request_id}", pathParams: { request_id } };
  return (
    <>
      <div class="card stack">
        <p aria-live="polite">
          <StateBadge status={status} /> <Prose text={stateSentence(request)} />
        </p>
        {status === "failed" && <Failure request={request} />}
        <Facts request={request} />
        <CopyAs call={call} />
      </div>
      {hash !== null && <BatchMates key={hash} id={request_id} hash={hash} />}
    </>
  );
}

function Facts({ request }: { request: Request }) {
  const { nft_collection: address, nft_token_id: token, transaction_hash: hash, gas_used: gas } = request;
  /** It failed before it was sent: nothing is still to come. */
  const ended = request.status === "failed" && hash === null;
  const unknown = ended ? "none" : "not known yet";
  return (
    <dl class="facts">
      <dt>Request</dt>
      <dd>
        <Copyable text={request.request_id} what="the request id" />
      </dd>
      {request.reference !== null && (
        <>
          <dt>Reference</dt>
          <dd>
            <bdi>{request.reference}</bdi>
          </dd>
        </>
      )}
      <dt>Accepted</dt>
      <dd>
        <Moment time={request.created_at} /> (<Age time={request.created_at} />)
      </dd>
      <dt>Last change</dt>
      <dd>
        <Moment time={request.updated_at} />
      </dd>
      <dt>Collection</dt>
      <dd>{address === null ? unknown : <CollectionLink address={address} />}</dd>
      {address !== null && token !== null && (
        <>
          <dt>Token</dt>
          <dd>
            <a href={href("/collections/:address/:token_id", { address, token_id: token })}>#{token}</a>
          </dd>
        </>
      )}
      <Who request={request} />
      <dt>Transaction</dt>
      <dd>
        {hash === null ? (
          ended ? (
            "not sent"
          ) : (
            "not sent yet"
          )
        ) : (
          <Address value={hash} what="the transaction hash" link={explorerLink({ transaction: hash })} />
        )}
      </dd>
      <dt>Block</dt>
      <dd>{request.block_number ?? (ended ? "none" : "not mined yet")}</dd>
      <dt>Gas</dt>
      <dd>{gas === null ? unknown : `${gas.toLocaleString("en")} (its share of the transaction)`}</dd>
      <dt>Fee</dt>
      <dd>{request.fee_wei === null ? unknown : <Ether wei={request.fee_wei} />}</dd>
    </dl>
  );
}

/** Who gives and who gets how many copies, and which request it sends again. */
function Who({ request }: { request: Request }) {
  return (
    <>
      <Party head="From" address={request.from_address} />
      <Party head="To" address={request.to_address} />
      {request.quantity !== null && (
        <>
          <dt>Copies</dt>
          <dd>{request.quantity}</dd>
        </>
      )}
      {request.retry_of !== null && (
        <>
          <dt>Sends again</dt>
          <dd>
            <a href={href("/requests/:request_id", { request_id: request.retry_of })}>{shortHex(request.retry_of)}</a>
          </dd>
        </>
      )}
    </>
  );
}

function Party({ head, address }: { head: string; address: string | null }) {
  if (address === null) return null;
  return (
    <>
      <dt>{head}</dt>
      <dd>
        <Holder address={address} />
      </dd>
    </>
  );
}

function CollectionLink({ address }: { address: string }) {
  return (
    <span class="address">
      <a href={href("/collections/:address", { address })}>
        <CollectionName address={address} />
      </a>
      <CopyButton text={address} what="the address of the collection" />
    </span>
  );
}

/** What is wrong with each field, and where to go. */
function Failure({ request }: { request: Request }) {
  const { error_code: code, errors } = request;
  const links = remediesOf(code).flatMap((remedy) => linkOf(remedy, request) ?? []);
  return (
    <div class="note note-error">
      {errors !== null && (
        <ul>
          {errors.map(({ field, message }) => (
            <li key={field}>
              <code>{field}</code>: <Prose text={message} />
            </li>
          ))}
        </ul>
      )}
      <ul class="actions">
        {links.map(({ text, to }) => (
          <li key={text}>
            <a href={to}>{text}</a>
          </li>
        ))}
        <li>
          <SendAgain request={request} />
        </li>
        {code !== null && (
          <li>
            <a href={`${SERVICE_URL}docs/errors#${encodeURIComponent(code)}`}>About {code}</a>
          </li>
        )}
      </ul>
    </div>
  );
}

function linkOf(remedy: Remedy, request: Request): { text: string; to: string } | null {
  const { nft_collection: address, nft_token_id: token_id, transaction_hash: transaction } = request;
  if (remedy === "collection" && address !== null) {
    return { text: "Open the collection", to: href("/collections/:address", { address }) };
  }
  if (remedy === "token" && address !== null && token_id !== null) {
    return { text: "Open the token", to: href("/collections/:address/:token_id", { address, token_id }) };
  }
  const explorer = remedy === "transaction" && transaction !== null ? explorerLink({ transaction }) : null;
  return explorer === null ? null : { text: "Show the transaction", to: explorer };
}

/** The other requests in the same transaction. They share its gas and its fee. */
function BatchMates({ id, hash }: { id: string; hash: string }) {
  const { data, error, reload } = useData(async () => {
    const query = { transaction_hash: hash };
    const page = await answerOf(client().GET("/v1/requests", { params: { query } }));
    return { others: page.requests.filter((one) => one.request_id !== id), total: page.total };
  }, [hash]);
  useLive((event) => {
    if (event.transaction_hash === hash) reload();
  });
  return (
    <section class="stack">
      <h2>In the same transaction</h2>
      {error !== null && <ErrorNote error={error} retry={reload} />}
      {data === null && error === null && <Loading />}
      {data !== null && data.others.length === 0 && (
        <p class="muted">No other request of this app. It may have carried requests of other apps.</p>
      )}
      {data !== null && data.others.length > 0 && (
        <>
          <p class="muted">
            The transaction carries {data.total} requests of this app. They share its gas and its fee.
          </p>
          <RequestsTable caption="Requests in the same transaction" requests={data.others} />
        </>
      )}
    </section>
  );
}
