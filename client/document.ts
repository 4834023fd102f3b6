// Written by `npm run update -- client` from the published document (GET /openapi.json): do not edit.

type Absent<Key extends string> = { [Name in Key]?: never };
type Place = "query" | "header" | "path" | "cookie";
type Method = "get" | "put" | "post" | "delete" | "options" | "head" | "patch" | "trace";
/** A path. It has no other methods. */
type Path<Methods> = Methods & { parameters: Absent<Place> } & Absent<Exclude<Method, keyof Methods>>;
/** The parameters of a call. There are none in other places. */
type Inputs<Places> = Places & Absent<Exclude<Place, keyof Places>>;
/** A call without a body. */
type WithoutBody<Call> = Call & { requestBody?: never };
type AnswerHeaders<Name extends keyof components["headers"]> = Pick<components["headers"], Name> & {
  [name: string]: unknown;
};
/** An answer in JSON. */
type Answer<Name extends keyof components["headers"], Body> = {
  headers: AnswerHeaders<Name>;
  content: { "application/json": Body };
};
/** The body of an answer that is an error. */
type ErrorOf<Code extends string> = {
  /** What happened, as a word for programs. */
  error_code: Code;
  /** What happened, and what to do next. */
  message: string;
  errors: components["schemas"]["FieldErrors"];
};

/** What every call under `/v1` can be answered. */
type AnyCall = {
  401: components["responses"]["Unauthorized"];
  403: components["responses"]["Forbidden"];
  413: components["responses"]["PayloadTooLarge"];
  500: components["responses"]["InternalError"];
  503: components["responses"]["Unavailable"];
};
/** Which page of a list. */
type Paging = {
  /** @description Most items on the page. The default is 30. */
  limit?: components["parameters"]["LongLimit"];
  /** @description Items to skip. The default is 0. Use `cursor` to go further than the maximum. */
  offset?: components["parameters"]["Offset"];
  /** @description `next` of the previous page. Cannot be combined with `offset`. */
  cursor?: components["parameters"]["Cursor"];
};
/** What every page of a list has beside its items. */
type PageOfList = {
  /** @description Items in the whole listing. */
  total: number;
  /** @description Most items on this page. Fewer than asked for when they would have more than 4 MiB. */
  limit: number;
  /** @description Items of the listing before this page. */
  offset: number;
  /** @description Cursor of the next page; null at the end. */
  next: string | null;
};
/** The header of a call that can be made safe to repeat. */
type Repeatable = {
  /**
   * @description Makes the call safe to repeat: the same key with the same body gets the first answer again, and nothing happens twice. The body is compared as parsed JSON: white space, the order of keys and fields that are null or an empty text do not count. Use a new random value for each new call.
   * @example 7b0f3c52-6f0e-4d7e-9d0a-4f1f0f0f8a11
   */
  "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
};
export interface paths {
  "/v1/accounts": Path<{
    /** List the app's wallets */
    get: operations["listAccounts"];
    /**
     * Create a wallet
     * @description The same user of the same app always gets the same address, unless the wallet there was renamed: then the user gets another address. The wallet exists at once, without a transaction. **Without `user_identifier` each call creates another wallet**: store its address.
     */
    post: operations["createAccount"];
  }>;
  "/v1/accounts/user/{user_identifier}": Path<{
    /**
     * Show the wallet of a user
     * @description Escape the identifier in the path (percent-encoding).
     */
    get: operations["getAccountOfUser"];
  }>;
  "/v1/accounts/{address}": Path<{
    /**
     * List the tokens in a wallet
     * @description Tokens of the service's collections, and of the contracts of others that the app follows: those that it named in a transfer, or in a call for a wallet's tokens with the scope `contracts`.
     */
    get: operations["listContents"];
    /**
     * Rename the user of a wallet, or remove the user identifier
     * @description The wallet keeps its address, tokens and history. Every answer, event and webhook call has the new name, also for what happened before. A wallet that is created for the old name gets another address.
     */
    patch: operations["renameAccount"];
  }>;
  "/v1/accounts/{address}/history": Path<{
    /**
     * List the history of a wallet, newest first
     * @description Includes transfers made outside the service: their `request_id` is null.
     */
    get: operations["listWalletHistory"];
  }>;
  "/v1/accounts/{address}/{contract_address}": Path<{
    /**
     * List a wallet's tokens of one contract
     * @description Works for any ERC721 or ERC1155 contract. If another party deployed it, a token with the scope `contracts` makes the app follow it from this call on. The call itself reads only the database: the chain is read in the background, and `as_of_block` says as of which block the list is complete. Without the scope the call answers what is stored.
     */
    get: operations["listContentsOfContract"];
  }>;
  "/v1/accounts/{address}/{contract_address}/{token_id}": Path<{
    /**
     * Show a wallet's holding of one token
     * @description The page is empty when the wallet does not hold the token. The contract is followed as in the call above.
     */
    get: operations["listContentsOfToken"];
  }>;
  "/v1/collections/adopt/text": Path<{
    /**
     * Make the text with which a contract's owner lets the app adopt it
     * @description Nothing is stored. The contract's `owner()`, or an account with its role DEFAULT_ADMIN_ROLE, signs the text within a week. The signature goes to `POST /v1/collections/adopt`.
     */
    post: operations["makeAdoptionText"];
  }>;
  "/v1/collections/adopt": Path<{
    /**
     * Adopt a contract that another party deployed
     * @description The contract becomes a collection of the app: its tokens, holders and history are read from the chain, and `adopted` shows how far. The app's wallets can transfer and burn its tokens; the service cannot mint. What is read back makes no events. One app can adopt a contract.
     */
    post: operations["adoptCollection"];
  }>;
  "/v1/collections": Path<{
    /**
     * List the app's collections
     * @description Only collections whose request has completed.
     */
    get: operations["listCollections"];
    /**
     * Create a collection, hosted or self-hosted
     * @description `base_uri` or `collection_uri` makes the collection self-hosted: the app hosts the metadata. Without them the service hosts it. The collection is listed when its request has completed.
     */
    post: operations["createCollection"];
  }>;
  "/v1/collections/{address}": Path<{
    /**
     * List the tokens of a collection
     * @description Without a filter: in the order of their creation. `search` finds hosted tokens by how their names begin. `owner` or `user` lists the tokens of one wallet, in the order in which it received them. `trait_type` with `trait_value` lists the tokens with such an attribute, which hosted metadata has: of each token the first 32 attributes with a `trait_type` and a text, number or boolean as `value` can be found, of at most 256 characters each. Capital letters count.
     */
    get: operations["listNfts"];
    /**
     * Change the metadata of a hosted collection
     * @description Missing fields keep their values; null removes a field. On-chain royalties (ERC-2981) do not change. The service announces the change on chain (ERC-7572), unless the collection has its own owner.
     */
    patch: operations["changeCollection"];
  }>;
  "/v1/collections/{address}/freeze": Path<{
    /**
     * Freeze the metadata of a hosted collection permanently
     * @description Moves the metadata of the collection and of every token into one directory on IPFS. The contract's URIs then point there and can never change again. From this call on, no metadata can be changed and no token with hosted metadata can be minted. If the request fails, both are possible again.
     */
    post: operations["freezeCollection"];
  }>;
  "/v1/collections/{address}/{token_id}": Path<{
    /**
     * Show a token with its owner (ERC721) or a page of its owners (ERC1155)
     * @description `limit`, `offset` and `cursor` page through the owners of an ERC1155 id. A burnt token is shown, too: it has no owner, and its history says who burnt it.
     */
    get: operations["getNft"];
    /**
     * Change the metadata of a hosted token
     * @description Missing fields keep their values; null removes a field. `{token_id}` is replaced by the token id, as in a mint; a change brings this to the URIs of tokens from before 0.4.0, too. The service announces the change on chain (ERC721: ERC-4906; ERC1155: the event `URI`), unless the collection has its own owner.
     */
    patch: operations["changeToken"];
  }>;
  "/v1/collections/{address}/{token_id}/history": Path<{
    /**
     * List the history of a token, newest first
     * @description Includes transfers made outside the service: their `request_id` is null.
     */
    get: operations["listTokenHistory"];
  }>;
  "/v1/media": Path<{
    /**
     * Upload a file for metadata
     * @description The body is the file itself, with its media type or `application/octet-stream` as `Content-Type`, or without one: then the bytes decide. The file is stored under its CID and served under `/ipfs`, like media that `copy_media` copies. Use `uri` as `image` or `animation_url`. An `image/`, `video/` or `audio/` type that the bytes do not have is refused, and so is an empty file. Other names of a type (`image/x-png`) count as the type. Repeating an upload changes nothing and gets the same answer, so the call needs no `Idempotency-Key`. Files that no metadata names are kept for at least a week.
     */
    post: operations["uploadMedia"];
  }>;
  "/v1/nfts": Path<{
    /**
     * Mint a token, or more copies of one
     * @description The collection's type and hosting decide which fields apply. ERC721: `to_address`. ERC1155: `token_id` with `initial_supply` and `initial_owner` for a new id, or with `quantity` and `to_address` for more copies. `to_user` names a user of the app in place of the address. Only hosted collections take metadata fields and `unlockable_content`.
     */
    post: operations["mintNft"];
  }>;
  "/v1/nfts/batch": Path<{
    /**
     * Mint up to 1,000 tokens with one call
     * @description All items are stored in one commit, and decided in their order: an item sees what the items before it have used up. An item that is refused does not keep the others from being accepted, so **check every result**. The call itself fails only if `items` is not a list of 1 to 1,000 entries, or for what any call can fail for.
     *
     *     With an `Idempotency-Key`, a repeated call gets the same results, also the errors among them. Use a new key only when at least one result has a `request_id`: then send the refused items again. If no item was accepted, nothing is stored, and the key stays free. If, besides, an item is `unavailable`, the call itself fails with 503 `unavailable`: repeat it with the same key.
     *
     *     `Retry-After` is present if items were refused for lack of room (`unavailable`, `quota_exceeded`): send these again after that many seconds. A batch counts as one call for the rate limit, and its items have a limit of their own, the policy `items` in the headers. A batch with more items than are left of it gets 429 `rate_limited`, and nothing of it counts.
     */
    post: operations["mintNfts"];
  }>;
  "/v1/transfers": Path<{
    /**
     * Transfer a token out of a wallet
     * @description The wallet signs and the service sends the transaction, so the wallet needs no gas. Works for any ERC721 or ERC1155 contract, not only the service's collections. The app follows the contract from then on. A transfer to the same wallet is accepted like any other: it costs gas, appears in the histories and leaves the holding as it is.
     */
    post: operations["transferNft"];
  }>;
  "/v1/transfers/batch": Path<{
    /**
     * Transfer up to 1,000 tokens with one call
     * @description All items are stored in one commit, and decided in their order: an item sees what the items before it have used up. An item that is refused does not keep the others from being accepted, so **check every result**. The call itself fails only if `items` is not a list of 1 to 1,000 entries, or for what any call can fail for.
     *
     *     With an `Idempotency-Key`, a repeated call gets the same results, also the errors among them. Use a new key only when at least one result has a `request_id`: then send the refused items again. If no item was accepted, nothing is stored, and the key stays free. If, besides, an item is `unavailable`, the call itself fails with 503 `unavailable`: repeat it with the same key.
     *
     *     `Retry-After` is present if items were refused for lack of room (`unavailable`, `quota_exceeded`): send these again after that many seconds. A batch counts as one call for the rate limit, and its items have a limit of their own, the policy `items` in the headers. A batch with more items than are left of it gets 429 `rate_limited`, and nothing of it counts.
     */
    post: operations["transferNfts"];
  }>;
  "/v1/burns": Path<{
    /**
     * Burn a token of a wallet
     * @description Destroys the token, or copies of it. This cannot be undone. The id of an ERC721 token is never minted again, and a supply cap still counts the token. An ERC1155 id stays, also without copies: more copies of it can be minted. The wallet signs and the service sends the transaction, so the wallet needs no gas. Soulbound tokens can be burnt, too. Tokens of contracts of others can be burnt if their contract has `burn(uint256)` (ERC721) or `burn(address,uint256,uint256)` (ERC1155), and if the chain has delegation (EIP-7702). The app follows such a contract from then on.
     */
    post: operations["burnNft"];
  }>;
  "/v1/burns/batch": Path<{
    /**
     * Burn up to 1,000 tokens with one call
     * @description All items are stored in one commit, and decided in their order: an item sees what the items before it have used up. An item that is refused does not keep the others from being accepted, so **check every result**. The call itself fails only if `items` is not a list of 1 to 1,000 entries, or for what any call can fail for.
     *
     *     With an `Idempotency-Key`, a repeated call gets the same results, also the errors among them. Use a new key only when at least one result has a `request_id`: then send the refused items again. If no item was accepted, nothing is stored, and the key stays free. If, besides, an item is `unavailable`, the call itself fails with 503 `unavailable`: repeat it with the same key.
     *
     *     `Retry-After` is present if items were refused for lack of room (`unavailable`, `quota_exceeded`): send these again after that many seconds. A batch counts as one call for the rate limit, and its items have a limit of their own, the policy `items` in the headers. A batch with more items than are left of it gets 429 `rate_limited`, and nothing of it counts.
     */
    post: operations["burnNfts"];
  }>;
  "/v1/receivers/check": Path<{
    /**
     * Check who would get tokens, and whether the tokens can arrive
     * @description Says what each receiver is, and whether it accepts a token of the contract: the node runs the receiver's code as a mint would. Nothing is created or sent. A receiver can change its mind, so a mint is simulated again before it is sent. A name that `to_user` refuses is reported in its place.
     *
     *     Each entry counts as an item of a batch for the rate limit (the policy `items` in the headers). An app has one check at a time; further calls wait.
     */
    post: operations["checkReceivers"];
  }>;
  "/v1/contracts": Path<{
    /**
     * List the contracts of others that the app follows
     * @description The app follows a contract that it has adopted, or named in a transfer, or in a call for a wallet's tokens with the scope `contracts`. A contract that floods or keeps failing is quarantined for a time; afterwards everything is read again.
     */
    get: operations["listContracts"];
  }>;
  "/v1/contracts/{address}": Path<{
    /**
     * Stop following a contract
     * @description The contract's tokens leave the lists of the app's wallets; what happened before stays in their histories. A contract that the app has adopted stays (404). Naming the contract again follows it again.
     */
    delete: operations["deleteContract"];
  }>;
  "/v1/requests": Path<{
    /**
     * List the app's requests
     * @description Newest first, unless `order` says otherwise. `transaction_hash` lists the app's requests in one transaction: they share its gas and its fee. The transaction of a request can change until the request is final. `reference` lists the requests whose calls had this `reference`. `collection`, and `wallet` or `user`, list the requests that concern them.
     */
    get: operations["listRequests"];
  }>;
  "/v1/requests/{request_id}": Path<{
    /**
     * Show a request
     * @description `pending`: accepted. `processing`: its transaction was sent. `completed` and `failed` are final.
     */
    get: operations["getRequest"];
  }>;
  "/v1/requests/{request_id}/retry": Path<{
    /**
     * Send a failed request again
     * @description Creates a new request that does the same, with the same `reference`, and answers its id. Its `retry_of` names the failed request, whose `retried_by` names the new one. Needs the scope of the call that created the request: `mint`, `transfer` (also for burns), or `collections`. A request is sent again once: a repeated call answers the same new request. All rules are checked again. `copy_media` copies the media again.
     */
    post: operations["retryRequest"];
  }>;
  "/v1/webhook": Path<{
    /** Show the app's first webhook */
    get: operations["getWebhook"];
    /**
     * Register or change the app's first webhook
     * @description `POST /v1/webhooks` creates further webhooks. Calls are signed as in Standard Webhooks. The answer to the first registration has the signing secret. The URL must not lead to a private address: a URL with a private IP address is refused, and a host name is looked up at each delivery.
     */
    put: operations["putWebhook"];
    /**
     * Remove the app's first webhook
     * @description Its deliveries that wait fail. No other webhook takes its place.
     */
    delete: operations["deleteWebhook"];
  }>;
  "/v1/webhook/test": Path<{
    /**
     * Send a test event to the app's first webhook
     * @description The event has the type `test` and no request. It is sent whichever event types the webhook has chosen. Like every event it is signed, retried and listed among the deliveries, but it is not in the event feed. The call fails with `validation_failed` when the webhook is disabled.
     */
    post: operations["testWebhook"];
  }>;
  "/v1/webhook/secret": Path<{
    /**
     * Rotate the signing secret of the app's first webhook
     * @description The new secret is shown only once. For 24 hours each call carries two signatures, one with each secret, so that the receiver can switch at any time. At most two secrets are live: another rotation within that time ends the oldest at once.
     */
    post: operations["rotateWebhookSecret"];
  }>;
  "/v1/webhook/deliveries": Path<{
    /** List deliveries to the app's first webhook, newest first */
    get: operations["listDeliveries"];
  }>;
  "/v1/webhook/deliveries/redeliver": Path<{
    /**
     * Send the events of all failed deliveries to the app's first webhook again
     * @description Sends the events of the newest 10,000 failed deliveries again, except events that have a later delivery. The oldest come first, at most 1,000 in a call: call again while `more` is true. Each event keeps its `webhook-id` and gets a new delivery. The call fails with `validation_failed` when the webhook is disabled.
     */
    post: operations["redeliverFailed"];
  }>;
  "/v1/webhook/deliveries/{id}": Path<{
    /**
     * Show a webhook delivery with its payload
     * @description Of any webhook of the app.
     */
    get: operations["getDelivery"];
  }>;
  "/v1/webhook/deliveries/{id}/redeliver": Path<{
    /**
     * Send the event of a delivery again, at once
     * @description Of any webhook of the app. The receiver gets the same event with the same `webhook-id`. If the delivery has ended, the answer is a new delivery. If it waits for a retry, the retry happens now. The call fails with `validation_failed` when the webhook is disabled.
     */
    post: operations["redeliver"];
  }>;
  "/v1/webhooks": Path<{
    /** List the app's webhooks */
    get: operations["listWebhooks"];
    /**
     * Create a webhook
     * @description Each webhook has its own secret, order, retries and deliveries, and none delays another. An app has at most 10, including the webhook of `/v1/webhook`. Only the answer shows the signing secret, so the call takes no `Idempotency-Key`: if the answer is lost, create the webhook again.
     */
    post: operations["createWebhook"];
  }>;
  "/v1/webhooks/{id}": Path<{
    /** Show a webhook */
    get: operations["getOneWebhook"];
    /**
     * Remove a webhook
     * @description Its deliveries that wait fail. No other webhook takes its place.
     */
    delete: operations["deleteOneWebhook"];
    /**
     * Change a webhook
     * @description A field that is left out keeps its value. `url` enables a disabled webhook. The secret stays.
     */
    patch: operations["changeWebhook"];
  }>;
  "/v1/webhooks/{id}/test": Path<{
    /**
     * Send a test event to a webhook
     * @description The event has the type `test` and no request. It is sent whichever event types the webhook has chosen. Like every event it is signed, retried and listed among the deliveries, but it is not in the event feed. The call fails with `validation_failed` when the webhook is disabled.
     */
    post: operations["testOneWebhook"];
  }>;
  "/v1/webhooks/{id}/secret": Path<{
    /**
     * Rotate the signing secret of a webhook
     * @description The new secret is shown only once. For 24 hours each call carries two signatures, one with each secret, so that the receiver can switch at any time. At most two secrets are live: another rotation within that time ends the oldest at once.
     */
    post: operations["rotateOneSecret"];
  }>;
  "/v1/webhooks/{id}/deliveries": Path<{
    /** List deliveries to a webhook, newest first */
    get: operations["listDeliveriesOfOne"];
  }>;
  "/v1/webhooks/{id}/deliveries/redeliver": Path<{
    /**
     * Send the events of all failed deliveries to a webhook again
     * @description Sends the events of the newest 10,000 failed deliveries again, except events that have a later delivery. The oldest come first, at most 1,000 in a call: call again while `more` is true. Each event keeps its `webhook-id` and gets a new delivery. The call fails with `validation_failed` when the webhook is disabled.
     */
    post: operations["redeliverFailedOfOne"];
  }>;
  "/v1/events": Path<{
    /**
     * List the app's events, oldest first
     * @description The same bodies as webhooks, in a stable order. Without `types`, events of the app's requests. Use it without a webhook, or to catch up when the receiver was down. Pass the `next` of the last answer as `after`. Fewer events than `limit` mean that there are no more for now.
     *
     *     With `Accept: text/event-stream`, the answer is a stream of server-sent events, each sent as soon as it is stored. The stream begins after `Last-Event-ID`; without that header, after the parameter `after`; without both, with the next event. `id` is the cursor, `event` the type, `data` the event as JSON. When the connection is lost, call again with the last `id` as `Last-Event-ID`.
     */
    get: operations["listEvents"];
  }>;
  "/v1/exports/holders": Path<{
    /**
     * Export all holders of a collection
     * @description Every token of a collection of the app, with each owner, in the order of the token ids as text. The answer has one row in each line: JSON objects (`application/x-ndjson`), or with `Accept: text/csv` a file for spreadsheets (RFC 4180) whose first line has the names of the fields. All rows are as of one block, which the header `Moneta-As-Of-Block` names. An app has one export at a time. In CSV, names that begin with `=`, `+`, `-`, `@` or `'` have one more `'` in front.
     */
    get: operations["exportHolders"];
  }>;
  "/v1/exports/wallets": Path<{
    /**
     * Export all wallets of the app
     * @description Oldest first. The answer has one row in each line: JSON objects (`application/x-ndjson`), or with `Accept: text/csv` a file for spreadsheets (RFC 4180) whose first line has the names of the fields. All rows are as of one block, which the header `Moneta-As-Of-Block` names. An app has one export at a time. In CSV, names that begin with `=`, `+`, `-`, `@` or `'` have one more `'` in front.
     */
    get: operations["exportWallets"];
  }>;
  "/v1/usage": Path<{
    /**
     * Show what the app used, by day
     * @description Days are in UTC. A request counts on the day it was accepted, and again on the day it became final. The requests of a transaction share its gas and its fee in proportion to the gas that they were expected to use, also those that failed. All shares together are exactly what the transactions cost. A chain reorganization never counts them twice. `quotas` has what counts towards the quotas of the app, and their limits. A call that would exceed one gets 429 `quota_exceeded`.
     */
    get: operations["getUsage"];
  }>;
  "/v1/summary": Path<{
    /**
     * Show what the app did today and yesterday, and whether requests are sent
     * @description Days are in UTC. A request counts on the day it was accepted, and again on the day it became final. The figures are counters, so the call costs the same for any number of requests. `sending` is up to some seconds old.
     */
    get: operations["getSummary"];
  }>;
  "/v1/console/session": Path<{
    /** Show the session of the console */
    get: operations["getConsoleSession"];
    /**
     * Sign in to the console with the code of a link
     * @description Needs no token, but the headers `X-Moneta-Console: 1` and an `Origin` of the service itself. A code works once, within ten minutes. The answer sets the cookie of a new session (`HttpOnly`, `SameSite=Strict`, with TLS also `Secure`), which lasts seven days. A session that the browser had before ends.
     */
    post: operations["createConsoleSession"];
    /**
     * Sign out of the console
     * @description Ends the session, also for calls and event streams of other tabs, and removes the cookie.
     */
    delete: operations["deleteConsoleSession"];
  }>;
  "/v1/tokens": Path<{
    /**
     * List the app's tokens, newest first
     * @description Also those that expired or were revoked.
     */
    get: operations["listTokens"];
    /**
     * Create a token for the app
     * @description The answer shows the token once. The session must itself have every scope of the token. The token works until it expires or is revoked, also after the session has ended.
     */
    post: operations["createToken"];
  }>;
  "/v1/tokens/{token_id}": Path<{
    /**
     * Revoke a token of the app
     * @description The token stops working at once. It stays in the list, with `revoked_at`. The session must itself have every scope of the token. No token is protected, not even the last one: the operator can always create another.
     */
    delete: operations["deleteToken"];
  }>;
  "/v1/operator/apps": Path<{
    /**
     * List all apps, newest first, with what they used
     * @description Days are in UTC. `GET /v1/usage` says what counts on which day.
     */
    get: operations["listApps"];
    /**
     * Create an app and its first token
     * @description As `npm run cli -- app create`. The answer shows the token once. The app gets the quotas of `APP_QUOTAS`. The session must itself have every scope of the token. If the answer was lost, the app may exist: find it with `GET /v1/operator/apps`, and create another token with `POST /v1/tokens`.
     */
    post: operations["createApp"];
  }>;
  "/v1/operator/status": Path<{
    /**
     * Show the state of the whole service
     * @description Backlog, indexer, webhook deliveries, and the lanes with their balances. What cannot be read now, such as balances while the node does not answer, is null. Results are up to some seconds old, what lanes spent up to a minute.
     */
    get: operations["getOperatorStatus"];
  }>;
  "/v1/operator/doctor": Path<{
    /**
     * Check the whole service, and say how to fix each problem
     * @description The findings of `npm run cli -- doctor`, with the keys of the process that answers. The checks run once at a time. Their result serves the calls of at least the next 15 seconds: see `checked_at`. If they take longer than 20 seconds, the answer is 503: call again, they go on meanwhile.
     */
    get: operations["getDoctorFindings"];
  }>;
  "/v1/operator/series": Path<{
    /**
     * Show how many requests became final over time, their latency and their fees
     * @description Over all apps, for charts. Every request is counted when it becomes final: nothing is sampled. Latencies are counted in ranges, so the percentiles are exact to 10 %. A fee that the node showed only later is missing, and a later reorg changes nothing here: `GET /v1/operator/apps` and `GET /v1/usage` have the exact fees. Requests that became final before the service had this call are missing.
     */
    get: operations["getOperatorSeries"];
  }>;
  "/metadata/{chain_id}/{collection}": Path<{
    /** Metadata of a hosted collection */
    get: operations["getCollectionMetadata"];
    /** Metadata of a hosted collection: CORS preflight */
    options: operations["getCollectionMetadataOptions"];
  }>;
  "/metadata/{chain_id}/{collection}/{token_id}": Path<{
    /** Metadata of a hosted token */
    get: operations["getTokenMetadata"];
    /** Metadata of a hosted token: CORS preflight */
    options: operations["getTokenMetadataOptions"];
  }>;
  "/ipfs/{cid}": Path<{
    /**
     * Content that the service hosts on IPFS
     * @description Content under a CID never changes. `Range` is supported. The content comes from third parties, so no part of it may run on this origin.
     */
    get: operations["getContent"];
    /** Content that the service hosts on IPFS: CORS preflight */
    options: operations["getContentOptions"];
    /**
     * Content that the service hosts on IPFS: headers only
     * @description Content under a CID never changes. `Range` is supported. The content comes from third parties, so no part of it may run on this origin.
     */
    head: operations["headContent"];
  }>;
  "/ipfs/{cid}/{path}": Path<{
    /**
     * A file of a directory that the service hosts on IPFS
     * @description Content under a CID never changes. `Range` is supported. The content comes from third parties, so no part of it may run on this origin.
     */
    get: operations["getContentAt"];
    /** A file of a directory that the service hosts on IPFS: CORS preflight */
    options: operations["getContentAtOptions"];
    /**
     * A file of a directory that the service hosts on IPFS: headers only
     * @description Content under a CID never changes. `Range` is supported. The content comes from third parties, so no part of it may run on this origin.
     */
    head: operations["headContentAt"];
  }>;
  "/": Path<{
    /**
     * Links to the documentation and the health checks
     * @description A page for browsers (`Accept: text/html`), JSON for all others.
     */
    get: operations["getHome"];
  }>;
  "/healthz": Path<{
    /** Whether the process runs */
    get: operations["getHealth"];
  }>;
  "/readyz": Path<{
    /** Whether the service can do its work */
    get: operations["getReadiness"];
  }>;
  "/docs": Path<{
    /** This document as a page, to read and to try out */
    get: operations["getDocs"];
  }>;
  "/openapi.json": Path<{
    /** This document */
    get: operations["getDocument"];
  }>;
  "/docs/errors": Path<{
    /**
     * All error codes as a page
     * @description A status shows that an HTTP answer has the code; “request” shows that an accepted request can fail with it later.
     *
     *     | Status | `error_code` | `message` | `doc_url` |
     *     |---|---|---|---|
     *     | 400 | `malformed_json` | The body is not valid JSON in UTF-8. Correct the body and send it again. | [docs/errors#malformed_json](docs/errors#malformed_json) |
     *     | 400 | `malformed_request` | The call is not valid HTTP. Check the request line and the headers; HTTP/1.1 requires `Host`. | [docs/errors#malformed_request](docs/errors#malformed_request) |
     *     | 401 | `unauthorized` | The token is missing, unknown, expired or revoked. Send a valid token in `Authorization: Bearer <token>`. | [docs/errors#unauthorized](docs/errors#unauthorized) |
     *     | 403 | `forbidden` | The token lacks the scope that this call needs. Use a token with that scope. | [docs/errors#forbidden](docs/errors#forbidden) |
     *     | 404 | `not_found` | Not found, or it belongs to another app. Check the path and the ids in it. | [docs/errors#not_found](docs/errors#not_found) |
     *     | 405 | `method_not_allowed` | This path does not support the method. Use one of the methods in the `Allow` header. | [docs/errors#method_not_allowed](docs/errors#method_not_allowed) |
     *     | 408 | `request_timeout` | The request did not arrive in time. Send it again. | [docs/errors#request_timeout](docs/errors#request_timeout) |
     *     | 409 | `idempotency_key_reused` | This Idempotency-Key was already used with a different path or body. Use a new key for a new request. | [docs/errors#idempotency_key_reused](docs/errors#idempotency_key_reused) |
     *     | 409 | `not_retryable` | Only a request that has failed, and that no reorg has corrected, can be sent again. Look at its `status`. | [docs/errors#not_retryable](docs/errors#not_retryable) |
     *     | 410 | `answer_expired` | An earlier call with this Idempotency-Key was accepted, and nothing was done now. Its answer is no longer stored. Look for what it created, such as its requests with `GET /v1/requests`, before you repeat it with a new key. | [docs/errors#answer_expired](docs/errors#answer_expired) |
     *     | 413 | `payload_too_large` | The body, or the URL with the headers, is too large. Send a smaller request. | [docs/errors#payload_too_large](docs/errors#payload_too_large) |
     *     | 415 | `unsupported_media_type` | The body has the wrong type. Send JSON in UTF-8 with `Content-Type: application/json`; to `POST /v1/media`, send the file itself with its media type. | [docs/errors#unsupported_media_type](docs/errors#unsupported_media_type) |
     *     | 416 | `range_not_satisfiable` | The requested range is outside the content. `Content-Range` has the size of the content. | [docs/errors#range_not_satisfiable](docs/errors#range_not_satisfiable) |
     *     | 417 | `expectation_failed` | The service supports no `Expect` header other than `100-continue`. Remove the header. | [docs/errors#expectation_failed](docs/errors#expectation_failed) |
     *     | 422 | `validation_failed` | Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them. | [docs/errors#validation_failed](docs/errors#validation_failed) |
     *     | 422 | `adoption_not_permitted` | The owner of the contract has not permitted it. Let the owner sign the text of `POST /v1/collections/adopt/text`. | [docs/errors#adoption_not_permitted](docs/errors#adoption_not_permitted) |
     *     | 422 | `user_identifier_taken` | Another wallet of this app already has this user identifier. Use that wallet, or another identifier. | [docs/errors#user_identifier_taken](docs/errors#user_identifier_taken) |
     *     | 422 | `app_name_taken` | Another app of this service already has this name. Choose another name. | [docs/errors#app_name_taken](docs/errors#app_name_taken) |
     *     | 422 | `wallet_not_found` | This app has no wallet with this address. Check the address, or create a wallet first. | [docs/errors#wallet_not_found](docs/errors#wallet_not_found) |
     *     | 422 | `wallet_watch_only` | The wallet is watch-only: its key is not at this service, so the service cannot sign for it. Who has the key can move the token. | [docs/errors#wallet_watch_only](docs/errors#wallet_watch_only) |
     *     | 422 | `collection_not_found` | This app has no collection at this address. Check the address, or wait until its request has completed. | [docs/errors#collection_not_found](docs/errors#collection_not_found) |
     *     | 422 | `contract_not_supported` | The contract is neither ERC721 nor ERC1155, or it has no function for this call. Check the address; `errors` says what it lacks. | [docs/errors#contract_not_supported](docs/errors#contract_not_supported) |
     *     | 422 | `not_supported_by_chain` | The chain does not support what this call needs: without delegation (EIP-7702), wallets cannot move or burn tokens of contracts of others. | [docs/errors#not_supported_by_chain](docs/errors#not_supported_by_chain) |
     *     | 422 | `too_many_contracts` | The app follows as many contracts of others as it may. Stop following one with DELETE /v1/contracts/<address>, or ask the operator to raise the limit. | [docs/errors#too_many_contracts](docs/errors#too_many_contracts) |
     *     | 422 | `too_many_webhooks` | The app has 10 webhooks, and may not have more. Change or remove one: GET /v1/webhooks lists them. | [docs/errors#too_many_webhooks](docs/errors#too_many_webhooks) |
     *     | 422 | `token_not_found` | The token does not exist. Check the token id, or wait until its mint has completed. | [docs/errors#token_not_found](docs/errors#token_not_found) |
     *     | 422, request | `token_already_exists` | This ERC1155 token id already exists. Choose another id, or send `quantity` and `to_address` to mint more copies. | [docs/errors#token_already_exists](docs/errors#token_already_exists) |
     *     | 422, request | `insufficient_balance` | The wallet does not hold the token, or not enough copies of it. Check what the wallet holds. | [docs/errors#insufficient_balance](docs/errors#insufficient_balance) |
     *     | 422, request | `supply_exceeded` | The mint exceeds the collection's maximum supply, or the most copies that an id can have. Mint fewer. | [docs/errors#supply_exceeded](docs/errors#supply_exceeded) |
     *     | 422 | `wrong_collection_type` | Some fields belong to the other collection type. Remove the fields that `errors` names. | [docs/errors#wrong_collection_type](docs/errors#wrong_collection_type) |
     *     | 422 | `wrong_hosting` | The call needs the other kind of hosting (hosted or self-hosted). The message of the answer says which kind the collection has, and what to send instead. | [docs/errors#wrong_hosting](docs/errors#wrong_hosting) |
     *     | 422 | `not_transferable` | The collection is soulbound: its tokens can never be transferred. | [docs/errors#not_transferable](docs/errors#not_transferable) |
     *     | 422 | `token_busy` | An earlier transfer or burn of this token is still pending. Try again when that request is final. | [docs/errors#token_busy](docs/errors#token_busy) |
     *     | 422, request | `receiver_rejected` | The contract at the destination refused the token. Choose a destination that accepts it. | [docs/errors#receiver_rejected](docs/errors#receiver_rejected) |
     *     | 422, request | `service_cannot_mint` | The service is not a minter of this collection. Only its owner can appoint it. | [docs/errors#service_cannot_mint](docs/errors#service_cannot_mint) |
     *     | 422 | `metadata_frozen` | The collection's metadata is frozen, or about to be. It can never change, and no new token with metadata can be minted. | [docs/errors#metadata_frozen](docs/errors#metadata_frozen) |
     *     | 429 | `rate_limited` | Too many calls. Try again after the number of seconds in `Retry-After`. | [docs/errors#rate_limited](docs/errors#rate_limited) |
     *     | 429, request | `quota_exceeded` | The app has used up a quota, such as its gas budget for today or its media bytes. `message` or `errors` says which one, its limit, and what to do. `Retry-After` has the seconds after which it is worth trying again. | [docs/errors#quota_exceeded](docs/errors#quota_exceeded) |
     *     | 500 | `internal_error` | The service failed unexpectedly. Give its operator the `X-Request-Id` of this answer: the log has the cause. | [docs/errors#internal_error](docs/errors#internal_error) |
     *     | 503 | `unavailable` | The service cannot handle this call now. Try again after the number of seconds in `Retry-After`. | [docs/errors#unavailable](docs/errors#unavailable) |
     *     | request | `execution_reverted` | The contract reverted the call. `errors` has the decoded reason. | [docs/errors#execution_reverted](docs/errors#execution_reverted) |
     *     | request | `out_of_gas` | The call needs more gas than it may use; `errors` has the figures. If they show that the call ran, the service has measured the costs again: send a new request. Otherwise make the request smaller, or ask the operator to raise MAX_ITEM_GAS. | [docs/errors#out_of_gas](docs/errors#out_of_gas) |
     *     | request | `media_unavailable` | The media could not be fetched, or what came is not an image, a video or other media; `errors` says which. Check the URL, then send a new request. | [docs/errors#media_unavailable](docs/errors#media_unavailable) |
     *     | request | `media_too_large` | The media is larger than the service accepts. Send a new request with a smaller file. | [docs/errors#media_too_large](docs/errors#media_too_large) |
     *     | request | `media_blocked` | The media is at an address that the service does not contact. Use a public address, or ask the operator to add the host to ALLOWED_PRIVATE_HOSTS. | [docs/errors#media_blocked](docs/errors#media_blocked) |
     *     | request | `transaction_refused` | The chain's node refuses the transaction of this request, even without other requests in it. `errors` has the reason. Make the request smaller, or ask the operator to look at the log. | [docs/errors#transaction_refused](docs/errors#transaction_refused) |
     *     | request | `nothing_moved` | The call of the transfer or burn succeeded and moved nothing: the wallets have what they had before. The contract does not do what its functions promise (ask its operator), or the delegation of the wallet was changed outside of the service. | [docs/errors#nothing_moved](docs/errors#nothing_moved) |
     *     | request | `ended_by_operator` | The operator of the service ended the request before it was sent. Ask the operator for the reason before you send a new request. | [docs/errors#ended_by_operator](docs/errors#ended_by_operator) |
     *     | request | `number_taken` | A transaction that the service did not send used this request's number. Ask the operator to check the sending keys. | [docs/errors#number_taken](docs/errors#number_taken) |
     */
    get: operations["getErrorCodes"];
  }>;
}
export interface webhooks {
  event: Path<{
    /**
     * An event of a request
     * @description `sent` comes at most once per request, then either `completed` or `error`. An event can be delivered more than once: compare its `webhook-id`. The events of one request arrive in order.
     */
    post: operations["receiveEvent"];
  }>;
  token: Path<{
    /**
     * A movement of tokens
     * @description Only if the webhook names the type. The events of one token arrive in the order of the chain.
     */
    post: operations["receiveTokenEvent"];
  }>;
  gap: Path<{
    /**
     * Blocks in which some movements have no event
     * @description Only if the webhook names the type.
     */
    post: operations["receiveGap"];
  }>;
  test: Path<{
    /**
     * A test event
     * @description Sent by `POST /v1/webhook/test`, and signed like every event.
     */
    post: operations["receiveTest"];
  }>;
}
export interface components {
  schemas: {
    CreateWallet: {
      /** @description The app's own name for the user who has the wallet. Unique in the app. Not `.` or `..`, no control characters. Without it, the wallet has no user, until `PATCH /v1/accounts/{address}` gives it one. */
      user_identifier?: string | null;
    };
    RenameWallet: {
      /** @description The app's new name for the user, by the rules of `POST /v1/accounts`. null removes the name. */
      user_identifier: string | null;
    };
    AdoptionText: {
      /** @description An ERC721 or ERC1155 contract that another party deployed, in any case. */
      address: string;
    };
    AdoptCollection: {
      /** @description An ERC721 or ERC1155 contract that another party deployed, in any case. */
      address: string;
      /** @description `message.nonce` of the text. */
      nonce: string;
      /** @description `message.expiry` of the text, in seconds since 1970. */
      expiry: number | bigint | string;
      /** @description The signature of the text, also of an account with code (ERC-1271). */
      signature: string;
      /** @description Who has signed it. Default: the contract's `owner()`. */
      signer?: string | null;
      /** @description No earlier block has events of the contract. Default: the block of its deployment, if the node knows it. */
      from_block?: (number | bigint | string) | null;
    };
    CreateCollection: {
      type: components["schemas"]["CollectionType"];
      /** @description Name of the collection. */
      name: string;
      /** @description Usually three or more capital letters. */
      symbol: string;
      /** @description The most tokens that can ever be minted. 0, like no value, means unlimited. Ignored for ERC1155: such a collection never has a cap, whatever is sent here. */
      mint_supply_count?: (number | bigint | string) | null;
      /** @description Another name for mint_supply_count. */
      mint_supply_account?: (number | bigint | string) | null;
      /** @description Owner of the contract. You must control this address. By default the service is the owner. */
      new_owner?: string | null;
      /** @description If true, tokens can never be transferred; their holders can only burn them. This cannot be changed later. ERC721 collections announce it by ERC-5192. */
      soulbound?: boolean | null;
      description?: string | null;
      image?: string | null;
      external_link?: string | null;
      banner_image?: string | null;
      featured_image?: string | null;
      collaborators?: string[] | null;
      seller_fee_basis_points?: (number | bigint | string) | null;
      fee_recipient?: string | null;
      base_uri?: string | null;
      collection_uri?: string | null;
      /** @description The app's own text for the request, such as the number of an order. No control characters but tabs and line breaks. The request and its events show it, and `GET /v1/requests?reference=` finds it. It need not be unique. */
      reference?: string | null;
    };
    /** @description Kind of the contract. */
    CollectionType: "ERC721" | "ERC1155";
    ChangeCollection: {
      description?: string | null;
      image?: string | null;
      external_link?: string | null;
      banner_image?: string | null;
      featured_image?: string | null;
      collaborators?: string[] | null;
      seller_fee_basis_points?: (number | bigint | string) | null;
      fee_recipient?: string | null;
      /** @description The app's own text for the request, such as the number of an order. No control characters but tabs and line breaks. The request and its events show it, and `GET /v1/requests?reference=` finds it. It need not be unique. */
      reference?: string | null;
    };
    FreezeCollection: {
      /** @description The app's own text for the request, such as the number of an order. No control characters but tabs and line breaks. The request and its events show it, and `GET /v1/requests?reference=` finds it. It need not be unique. */
      reference?: string | null;
    };
    ChangeToken: {
      name?: string | null;
      description?: string | null;
      image?: string | null;
      image_data?: string | null;
      external_url?: string | null;
      attributes?: unknown[] | null;
      background_color?: string | null;
      animation_url?: string | null;
      youtube_url?: string | null;
      properties?: { [key: string]: unknown } | null;
      localization?: { [key: string]: unknown } | null;
      decimals?: (number | bigint | string) | null;
      /** @description The app's own text for the request, such as the number of an order. No control characters but tabs and line breaks. The request and its events show it, and `GET /v1/requests?reference=` finds it. It need not be unique. */
      reference?: string | null;
    };
    Mint: {
      /** @description The collection of the token. */
      collection_address: string;
      /** @description Destination of an ERC721 token, or of more ERC1155 copies. */
      to_address?: string | null;
      /** @description Destination of a new ERC1155 id. */
      initial_owner?: string | null;
      /** @description In place of `to_address` or `initial_owner`: the app's own name for the user who gets the token. If the user has no wallet, the service creates it with the request, unless the name looks like an address, ends in `.eth` or has control characters: then it is refused. Needs the scope `accounts`, too. */
      to_user?: string | null;
      /** @description ERC1155 only. */
      token_id?: (number | bigint | string) | null;
      /** @description Number of copies of a new ERC1155 id. */
      initial_supply?: (number | bigint | string) | null;
      /** @description Number of further copies of an existing ERC1155 id. */
      quantity?: (number | bigint | string) | null;
      /** @description Metadata URI of a new ERC1155 id, used in place of the collection's base URI. Schemes: http:, https:, ipfs:, ar:, data:. */
      uri?: string | null;
      /** @description Hosted only, like all fields of the metadata. `{token_id}` stands for the token id here and in `description`, `image`, `animation_url` and `external_url`. */
      name?: string | null;
      description?: string | null;
      image?: string | null;
      image_data?: string | null;
      external_url?: string | null;
      attributes?: unknown[] | null;
      background_color?: string | null;
      animation_url?: string | null;
      youtube_url?: string | null;
      properties?: { [key: string]: unknown } | null;
      localization?: { [key: string]: unknown } | null;
      decimals?: (number | bigint | string) | null;
      /** @description Hosted only. true copies the files at image and animation_url (http:, https:, ipfs: or data:) to IPFS and hosts them. The request fails with `media_unavailable` if image is not an image or a video, or animation_url not one of these, sound, a model, a PDF or an HTML page. In a `data:` URI, everything behind the comma is the file, also a `#`. For ERC721 these may not have `{token_id}` then: the id is not known yet. */
      copy_media?: boolean | null;
      /** @description Text that only the holder can read. At most 65536 bytes in UTF-8. */
      unlockable_content?: string | null;
      /** @description The app's own text for the request, such as the number of an order. No control characters but tabs and line breaks. The request and its events show it, and `GET /v1/requests?reference=` finds it. It need not be unique. */
      reference?: string | null;
    };
    Transfer: {
      /** @description The wallet of the app that holds the token. */
      from_address?: string | null;
      /** @description In place of `from_address`: the app's own name for the user whose wallet holds the token. */
      from_user?: string | null;
      /** @description The contract of the token. */
      contract_address: string;
      /** @description The token. */
      token_id: number | bigint | string;
      /** @description Number of copies. ERC721: blank or 1. */
      amount?: number | bigint | string | null;
      /** @description The app's own text for the request, such as the number of an order. No control characters but tabs and line breaks. The request and its events show it, and `GET /v1/requests?reference=` finds it. It need not be unique. */
      reference?: string | null;
      /** @description Who gets the token: any address that can hold it. */
      to_address?: string | null;
      /** @description In place of `to_address`: the app's own name for the user who gets the token. If the user has no wallet, the service creates it with the request, unless the name looks like an address, ends in `.eth` or has control characters: then it is refused. Needs the scope `accounts`, too. */
      to_user?: string | null;
    };
    Burn: {
      /** @description The wallet of the app that holds the token. */
      from_address?: string | null;
      /** @description In place of `from_address`: the app's own name for the user whose wallet holds the token. */
      from_user?: string | null;
      /** @description The contract of the token. */
      contract_address: string;
      /** @description The token. */
      token_id: number | bigint | string;
      /** @description Number of copies. ERC721: blank or 1. */
      amount?: number | bigint | string | null;
      /** @description The app's own text for the request, such as the number of an order. No control characters but tabs and line breaks. The request and its events show it, and `GET /v1/requests?reference=` finds it. It need not be unique. */
      reference?: string | null;
    };
    CheckReceivers: {
      /** @description A collection of the app, or a contract of others that the app follows. */
      contract_address: string;
      /** @description 1 to 100 addresses. Send these or `users`, not both. */
      addresses?: string[] | null;
      /** @description 1 to 100 of the app's own names for users, as in `to_user`. */
      users?: string[] | null;
    };
    SetWebhook: {
      /** @description http(s) URL that resolves to public addresses. */
      url: string;
      /** @description Event types to send. The default is `sent`, `completed`, `error`, `corrected`. */
      events?:
        | (
            | "sent"
            | "completed"
            | "error"
            | "corrected"
            | "in_block"
            | "dropped"
            | "token.minted"
            | "token.burned"
            | "token.sent"
            | "token.received"
            | "token.transferred"
            | "gap"
          )[]
        | null;
    };
    CreateWebhook: {
      /** @description http(s) URL that resolves to public addresses. */
      url: string;
      /** @description Event types to send. The default is `sent`, `completed`, `error`, `corrected`. */
      events?:
        | (
            | "sent"
            | "completed"
            | "error"
            | "corrected"
            | "in_block"
            | "dropped"
            | "token.minted"
            | "token.burned"
            | "token.sent"
            | "token.received"
            | "token.transferred"
            | "gap"
          )[]
        | null;
      /** @description Only events about these contracts are sent, and `gap`. While a collection is being created, the events of that request are about no contract. The default is all events. */
      collections?: string[] | null;
      /** @description The app's own words. */
      description?: string | null;
    };
    ChangeWebhook: {
      /** @description http(s) URL that resolves to public addresses. It enables a disabled webhook. */
      url?: string;
      /** @description Event types to send. The default is `sent`, `completed`, `error`, `corrected`. null: the default. */
      events?:
        | (
            | "sent"
            | "completed"
            | "error"
            | "corrected"
            | "in_block"
            | "dropped"
            | "token.minted"
            | "token.burned"
            | "token.sent"
            | "token.received"
            | "token.transferred"
            | "gap"
          )[]
        | null;
      /** @description Only events about these contracts are sent, and `gap`. While a collection is being created, the events of that request are about no contract. The default is all events. null: the default. */
      collections?: string[] | null;
      /** @description The app's own words. null removes them. */
      description?: string | null;
    };
    CreateSession: {
      /** @description The code of the link that `npm run cli -- console` prints. It works once, within ten minutes. */
      code: string;
    };
    CreateToken: {
      /** @description What the token may do. The session must have these scopes itself. */
      scopes: (
        "read" | "accounts" | "collections" | "mint" | "transfer" | "webhooks" | "contracts" | "media" | "users"
      )[];
      /** @description The token expires after so many days. By default it never expires. */
      expires_in_days?: (number | bigint | string) | null;
      /** @description Most calls per minute with this token. They also count for the app, whose limit applies as well. By default only the app is limited. */
      rate_limit_per_minute?: (number | bigint | string) | null;
      /** @description For your own reference. By default `console`. */
      name?: string | null;
    };
    CreateApp: {
      /** @description Unique name of the app. Spaces around it are removed. */
      name: string;
      /** @description What the app's first token may do. By default all scopes of the session except `users`. */
      scopes?:
        | ("read" | "accounts" | "collections" | "mint" | "transfer" | "webhooks" | "contracts" | "media" | "users")[]
        | null;
      /** @description Name of the token, for your own reference. By default `first`. */
      token_name?: string | null;
    };
    Event: {
      /** @description The same in every retry and in the feed. */
      id: string;
      /** @description sent: the request's transaction was sent. completed or error: exactly one of the two ends the request. corrected: a chain reorganization deeper than the configured confirmations changed the outcome. The last two come only to those who name them. in_block: the transaction is in a block that is not final. dropped: a reorganization has removed that block; another in_block, completed or error follows. */
      type: "sent" | "completed" | "error" | "corrected" | "in_block" | "dropped";
      request_id: components["schemas"]["RequestId"];
      /** @description What the request does. */
      request_type: "collection" | "mint" | "transfer" | "burn" | "metadata" | "freeze";
      /** @description Present when the call that created the request had a `reference`. */
      reference?: string;
      /** @description null when the request was never sent. */
      transaction_hash: string | null;
      /** @description The contract that the request concerns. null while a collection is being created. */
      contract_address?: components["schemas"]["Address"] | null;
      /** @description The token that the request concerns. null for a collection, and until the id of a new token is known. */
      token_id?: components["schemas"]["Integer"] | null;
      /** @description Number of copies. null unless tokens are minted, transferred or burnt. */
      quantity?: components["schemas"]["Integer"] | null;
      /** @description Who gives the token in a transfer or burn. null otherwise. */
      from_address?: components["schemas"]["Address"] | null;
      /** @description Who gets the token of a mint or a transfer. null otherwise. */
      to_address?: components["schemas"]["Address"] | null;
      /** @description The app's own name for the user who has the wallet `from_address` now. null: none of the app's users has it. */
      from_user?: string | null;
      /** @description The app's own name for the user who has the wallet `to_address` now. null: none of the app's users has it. */
      to_user?: string | null;
      /** @description Present when a collection or a token was created. */
      nft_collection?: components["schemas"]["Address"];
      /** @description Present when a token was created. */
      nft_token_id?: components["schemas"]["Integer"];
      /** @description Present on error, on in_block when the call failed, and on corrected when the earlier result was lost. */
      error_code?: components["schemas"]["RequestFailure"];
      /** @description Present on in_block and dropped: the block that has, or had, the transaction. */
      block_number?: number;
      created_at: components["schemas"]["Time"];
    };
    /** @description Request id: 64 hex digits. */
    RequestId: string;
    /** @description Address in EIP-55 checksum form. */
    Address: string;
    /** @description A JSON integer up to 2^53-1, a decimal string above that. */
    Integer: number | string;
    /**
     * @description - `token_already_exists`: This ERC1155 token id already exists. Choose another id, or send `quantity` and `to_address` to mint more copies.
     *     - `insufficient_balance`: The wallet does not hold the token, or not enough copies of it. Check what the wallet holds.
     *     - `supply_exceeded`: The mint exceeds the collection's maximum supply, or the most copies that an id can have. Mint fewer.
     *     - `receiver_rejected`: The contract at the destination refused the token. Choose a destination that accepts it.
     *     - `service_cannot_mint`: The service is not a minter of this collection. Only its owner can appoint it.
     *     - `quota_exceeded`: The app has used up a quota, such as its gas budget for today or its media bytes. `message` or `errors` says which one, its limit, and what to do. `Retry-After` has the seconds after which it is worth trying again.
     *     - `execution_reverted`: The contract reverted the call. `errors` has the decoded reason.
     *     - `out_of_gas`: The call needs more gas than it may use; `errors` has the figures. If they show that the call ran, the service has measured the costs again: send a new request. Otherwise make the request smaller, or ask the operator to raise MAX_ITEM_GAS.
     *     - `media_unavailable`: The media could not be fetched, or what came is not an image, a video or other media; `errors` says which. Check the URL, then send a new request.
     *     - `media_too_large`: The media is larger than the service accepts. Send a new request with a smaller file.
     *     - `media_blocked`: The media is at an address that the service does not contact. Use a public address, or ask the operator to add the host to ALLOWED_PRIVATE_HOSTS.
     *     - `transaction_refused`: The chain's node refuses the transaction of this request, even without other requests in it. `errors` has the reason. Make the request smaller, or ask the operator to look at the log.
     *     - `nothing_moved`: The call of the transfer or burn succeeded and moved nothing: the wallets have what they had before. The contract does not do what its functions promise (ask its operator), or the delegation of the wallet was changed outside of the service.
     *     - `ended_by_operator`: The operator of the service ended the request before it was sent. Ask the operator for the reason before you send a new request.
     *     - `number_taken`: A transaction that the service did not send used this request's number. Ask the operator to check the sending keys.
     */
    RequestFailure:
      | "token_already_exists"
      | "insufficient_balance"
      | "supply_exceeded"
      | "receiver_rejected"
      | "service_cannot_mint"
      | "quota_exceeded"
      | "execution_reverted"
      | "out_of_gas"
      | "media_unavailable"
      | "media_too_large"
      | "media_blocked"
      | "transaction_refused"
      | "nothing_moved"
      | "ended_by_operator"
      | "number_taken";
    /**
     * Format: date-time
     * @description Time in UTC, ISO 8601.
     */
    Time: string;
    TokenEvent: {
      /** @description token.minted and token.burned: the sender, or the receiver, is the zero address. token.sent: the sender is a wallet of the app. token.received: the receiver is one, and the sender is not. token.transferred: neither is one, in a collection of the app. */
      type: "token.minted" | "token.burned" | "token.sent" | "token.received" | "token.transferred";
      /** @description The same in every retry and in the feed. */
      id: string;
      /** @description null when no request of this app caused it. */
      request_id: components["schemas"]["RequestId"] | null;
      contract_address: components["schemas"]["Address"];
      token_id: components["schemas"]["Integer"];
      /** @description Number of copies; 1 for ERC721. */
      quantity: components["schemas"]["Integer"];
      /** @description null for a mint. */
      from_address: components["schemas"]["Address"] | null;
      /** @description null for a burn. */
      to_address: components["schemas"]["Address"] | null;
      /** @description The app's own name for the user who has the wallet `from_address` now. null: none of the app's users has it. */
      from_user: string | null;
      /** @description The app's own name for the user who has the wallet `to_address` now. null: none of the app's users has it. */
      to_user: string | null;
      transaction_hash: components["schemas"]["TransactionHash"];
      /** @description The block in which it happened. It is final. */
      block_number: number;
      block_time: components["schemas"]["Time"];
      /** @description The log in the block. */
      log_index: number;
      /** @description Position in the log: one log can move many ids. */
      batch_index: number;
      created_at: components["schemas"]["Time"];
    };
    /** @description Hash of a transaction. */
    TransactionHash: string;
    TokenCorrection: {
      /** @description A chain reorganization deeper than the configured confirmations has undone the movement. */
      type: "corrected";
      /** @description `id` of the event that is not true any more. The other fields are those of that event. */
      corrects: string;
      /** @description The same in every retry and in the feed. */
      id: string;
      /** @description null when no request of this app caused it. */
      request_id: components["schemas"]["RequestId"] | null;
      contract_address: components["schemas"]["Address"];
      token_id: components["schemas"]["Integer"];
      /** @description Number of copies; 1 for ERC721. */
      quantity: components["schemas"]["Integer"];
      /** @description null for a mint. */
      from_address: components["schemas"]["Address"] | null;
      /** @description null for a burn. */
      to_address: components["schemas"]["Address"] | null;
      /** @description The app's own name for the user who has the wallet `from_address` now. null: none of the app's users has it. */
      from_user: string | null;
      /** @description The app's own name for the user who has the wallet `to_address` now. null: none of the app's users has it. */
      to_user: string | null;
      transaction_hash: components["schemas"]["TransactionHash"];
      /** @description The block in which it happened. It is final. */
      block_number: number;
      block_time: components["schemas"]["Time"];
      /** @description The log in the block. */
      log_index: number;
      /** @description Position in the log: one log can move many ids. */
      batch_index: number;
      created_at: components["schemas"]["Time"];
    };
    GapEvent: {
      /** @description The same in every retry and in the feed. */
      id: string;
      /** @description Some movements of tokens have no event: strangers moved tokens of the app's collections too often, or the service was restored from a backup. */
      type: "gap";
      /** @description The event belongs to no request. */
      request_id: null;
      /** @description First block that has such movements. The histories of the tokens have them all. */
      from_block: number;
      /** @description Last such block. */
      to_block: number;
      created_at: components["schemas"]["Time"];
    };
    TestEvent: {
      /** @description The same in every retry. */
      id: string;
      /** @description Events of requests have another type. */
      type: "test";
      /** @description The event belongs to no request. */
      request_id: null;
      /** @description The event belongs to no request. */
      request_type: null;
      /** @description The event belongs to no request. */
      transaction_hash: null;
      created_at: components["schemas"]["Time"];
    };
    Wallet: {
      address: components["schemas"]["Address"];
      /** @description The app's own name for the user. null for a wallet without one. */
      user_identifier: string | null;
      /** @description true: an address of the user whose key is not at the service. Its tokens, history and events are shown, and it cannot send or burn tokens. */
      watch_only: boolean;
    };
    WalletsPage: PageOfList & {
      /** @description The items of this page. */
      wallets: components["schemas"]["Wallet"][];
    };
    HeldNftsPage: PageOfList & {
      /** @description The items of this page. */
      nfts: components["schemas"]["HeldNft"][];
    };
    HeldNft: {
      contract_address: components["schemas"]["Address"];
      /** @description null when the contract tells no name. */
      collection_name: string | null;
      type: components["schemas"]["CollectionType"];
      token_id: components["schemas"]["Integer"];
      /** @description ERC1155: number of copies in this wallet or this collection. */
      quantity?: components["schemas"]["Integer"];
      /** @description URI of the metadata, as the contract returns it. Of an adopted collection, where the service has its copy of them. */
      token_uri: string | null;
      /** @description Only of hosted tokens, and of those of adopted collections that were copied here. Of the latter, the fields of this list that have these types: `token_uri` has all of them, as they came. */
      metadata: components["schemas"]["TokenMetadata"] | null;
      /** @description Time of the block of the mint. */
      minted_at: components["schemas"]["Time"] | null;
      /** @description true when the block of the last change of the owner or of the number of copies is final. false: it is in a block that a reorg can still drop. */
      final: boolean;
      /** @description Shown only while this wallet holds the token, and never to a watch-only wallet. */
      unlockable_content: string | null;
      /** @description Only for a contract of others: the block as of which the service knows that the wallet holds the token. */
      as_of_block?: number;
    };
    /** @description Metadata of a hosted token, with {token_id} replaced by the token id. */
    TokenMetadata: {
      /** @description Name of the token. */
      name?: string;
      /** @description Text about the token. */
      description?: string;
      /** @description URI of a picture. */
      image?: string;
      /** @description The text of an SVG picture. */
      image_data?: string;
      /** @description URI of a website about the token. */
      external_url?: string;
      /** @description Properties of the token. */
      attributes?: unknown[];
      /** @description Six hexadecimal digits, without #. */
      background_color?: string;
      /** @description URI of a video, a sound or a model. */
      animation_url?: string;
      /** @description URI of a video on YouTube. */
      youtube_url?: string;
      /** @description Further properties of the token. */
      properties?: { [key: string]: unknown };
      /** @description Where texts in other languages are. */
      localization?: { [key: string]: unknown };
      /** @description Decimal places in which wallets show a number of copies. */
      decimals?: number;
    };
    HistoryPage: PageOfList & {
      /** @description The items of this page. */
      history: components["schemas"]["HistoryEntry"][];
    };
    HistoryEntry: {
      /** @description What happened. */
      type: "mint" | "transfer" | "burn";
      contract_address: components["schemas"]["Address"];
      token_id: components["schemas"]["Integer"];
      /** @description Number of copies; 1 for ERC721. */
      quantity: components["schemas"]["Integer"];
      /** @description null for a mint. */
      from_address: components["schemas"]["Address"] | null;
      /** @description null for a burn. */
      to_address: components["schemas"]["Address"] | null;
      transaction_hash: components["schemas"]["TransactionHash"];
      /** @description The block in which it happened. */
      block_number: number;
      timestamp: components["schemas"]["Time"];
      /** @description null when no request of this app caused it. */
      request_id: components["schemas"]["RequestId"] | null;
      /** @description true when the block of the movement is final. false: it is in a block that a reorg can still drop. */
      final: boolean;
    };
    ContractNftsPage: PageOfList & {
      /** @description The items of this page. */
      nfts: components["schemas"]["HeldNft"][];
      /** @description The block as of which the list is complete. null: the service has not read the wallet's tokens of this contract completely; ask again later. */
      as_of_block: number | null;
    };
    /** @description The text to sign, as `eth_signTypedData_v4` takes it (EIP-712). */
    TypedText: {
      /** @description The types, by name. */
      types: { [key: string]: unknown };
      /** @description The type of the message. */
      primaryType: string;
      /** @description The chain and the relay. */
      domain: { [key: string]: unknown };
      /** @description Contract, app, relay, nonce and expiry. */
      message: { [key: string]: unknown };
    };
    Collection: {
      address: components["schemas"]["Address"];
      type: components["schemas"]["CollectionType"];
      /** @description Name of the collection. */
      name: string;
      /** @description Symbol of the collection. */
      symbol: string;
      hosting: components["schemas"]["Hosting"];
      /** @description The most tokens that can ever be minted. null means unlimited. Always null for ERC1155. */
      mint_supply_count: number | null;
      /** @description true: the tokens can never be transferred. */
      soulbound: boolean;
      /** @description Tokens (ERC721) or distinct ids (ERC1155) ever minted. */
      minted: number;
      /** @description ERC1155 only. Copies of all its ids that exist: without burnt ones. */
      copies?: components["schemas"]["Integer"];
      /** @description Whether the metadata is frozen. pending: a freeze was accepted, and is not on chain yet. Unless this is no, metadata cannot be changed, and no token with hosted metadata can be minted; copies of ERC1155 ids that exist can. */
      metadata_frozen: "no" | "pending" | "yes";
      /** @description true: the owner of the contract can never change the royalty (ERC-2981) again. null: not known, in a collection of version 0.2.0; `reconcile` finds it. */
      royalty_frozen: boolean | null;
      /** @description What Sourcify or Etherscan said of the contract when the operator asked (`contract verify`). A collection is a minimal proxy (EIP-1167) that runs an implementation. implementation: the verifier has the sources of the implementation. match, exact: it knows sources of the proxy itself, without or with the hash of its metadata. failed: it does not have the sources. null: it was not asked, or has not answered. */
      verified: ("exact" | "match" | "implementation" | "failed") | null;
      /** @description Owner of the contract. */
      owner: components["schemas"]["Address"];
      /** @description URI of the metadata of the collection. */
      collection_uri: string | null;
      /** @description Self-hosted only. */
      base_uri?: string | null;
      /** @description Hosted only. Text about the collection. */
      description?: string | null;
      /** @description Hosted only. URI of a picture. */
      image?: string | null;
      /** @description Hosted only. URI of a website. */
      external_link?: string | null;
      /** @description Hosted only. URI of a wide picture. */
      banner_image?: string | null;
      /** @description Hosted only. URI of a picture for a selection. */
      featured_image?: string | null;
      /** @description Hosted only. Who may edit the collection at marketplaces. */
      collaborators?: components["schemas"]["Address"][] | null;
      /** @description Hosted only. Royalty on sales, in hundredths of a percent. */
      seller_fee_basis_points?: number | null;
      /** @description Hosted only. Who gets the royalty. */
      fee_recipient?: components["schemas"]["Address"] | null;
      /** @description Another party deployed the contract, and the app has adopted it. null: the service deployed it. */
      adopted: {
        /** @description reading: its past is being read. followed: it is stored up to the newest block. quarantined: it floods, and is read further later. */
        state: "reading" | "followed" | "quarantined";
        /** @description Its tokens, holders and history are stored up to this block. */
        as_of_block: number;
        /** @description The newest block that is stored of the chain. */
        to_block: number;
        /** @description `totalSupply` of the contract. null: it tells none. */
        total_supply: string | null;
        /** @description The last copy of its metadata by `collection rescue`. */
        rescue: {
          at: components["schemas"]["Time"];
          /** @description false: it still runs, or was interrupted. */
          finished: boolean;
          /** @description Tokens that it has come to. */
          tokens: number;
          /** @description Tokens whose metadata is here. */
          served: number;
          /** @description Documents and files. */
          problems: {
            /** @description missing: its source does not give it. unusable: it is not metadata. changed: its source has another one; the copy stays. too_large: it is above a limit or quota. */
            problem: "missing" | "unusable" | "changed" | "too_large";
            /** @description How many. */
            count: number;
            /** @description The first ones. null: the collection itself. */
            token_ids: (components["schemas"]["Integer"] | null)[];
          }[];
          /** @description The owner's call by which the contract names this service. */
          call: {
            /** @description Usual name of the function. */
            function: string;
            /** @description The base URI. */
            argument: string;
            /** @description The encoded call. */
            data: string;
          };
        } | null;
        /** @description How the service mints into it. null: it does not. */
        minting: {
          /** @description The function that mints, with what each argument is. */
          function: string;
          /** @description Why it is stopped. null: it is not. */
          stopped: string | null;
        } | null;
      } | null;
      /** @description The request that created it. null: it is adopted. */
      request_id: components["schemas"]["RequestId"] | null;
      created_at: components["schemas"]["Time"];
    };
    /** @description hosted: the service serves the metadata. self-hosted: the app does. */
    Hosting: "hosted" | "self-hosted";
    Accepted: { request_id: components["schemas"]["RequestId"]; warnings?: components["schemas"]["Warnings"] };
    /** @description The call was accepted, and probably does not do what was meant. Absent when there is nothing to say. */
    Warnings: {
      /** @description Name of the field. */
      field: string;
      /**
       * @description - `id_appended`: The `base_uri` of an ERC721 collection ends in a letter or a digit, and the contract appends the token id to it as it is.
       *     - `unescaped_hash`: A `data:` URI has a `#`, which ends it: browsers leave out the rest. Write `%23`. With `copy_media` this does not matter.
       *     - `unknown_placeholder`: A text has a placeholder for the token id that nobody replaces. Hosted metadata have `{token_id}`, URIs of ERC1155 contracts have `{id}`.
       *     - `ignored`: The field has no effect here.
       *
       *     Later versions may have more codes.
       */
      code: "id_appended" | "unescaped_hash" | "unknown_placeholder" | "ignored";
      /** @description What will happen, and what to send instead. */
      message: string;
    }[];
    CollectionsPage: PageOfList & {
      /** @description The items of this page. */
      collections: components["schemas"]["Collection"][];
    };
    NftsPage: PageOfList & {
      /** @description The collection itself. */
      collection: components["schemas"]["Collection"];
      /** @description The items of this page. */
      nfts: components["schemas"]["Nft"][];
    };
    Nft: {
      contract_address: components["schemas"]["Address"];
      /** @description null when the contract tells no name. */
      collection_name: string | null;
      type: components["schemas"]["CollectionType"];
      token_id: components["schemas"]["Integer"];
      /** @description ERC1155: number of copies in this wallet or this collection. */
      quantity?: components["schemas"]["Integer"];
      /** @description URI of the metadata, as the contract returns it. Of an adopted collection, where the service has its copy of them. */
      token_uri: string | null;
      /** @description Only of hosted tokens, and of those of adopted collections that were copied here. Of the latter, the fields of this list that have these types: `token_uri` has all of them, as they came. */
      metadata: components["schemas"]["TokenMetadata"] | null;
      /** @description Time of the block of the mint. */
      minted_at: components["schemas"]["Time"] | null;
      /** @description true when the block of the last change of the owner or of the number of copies is final. false: it is in a block that a reorg can still drop. */
      final: boolean;
      /** @description ERC721 only. */
      owner?: components["schemas"]["Address"] | null;
    };
    ChangedCollection: {
      /** @description All metadata after the change. */
      metadata: {
        /** @description Text about the collection. */
        description?: string;
        /** @description URI of a picture. */
        image?: string;
        /** @description URI of a website. */
        external_link?: string;
        /** @description URI of a wide picture. */
        banner_image?: string;
        /** @description URI of a picture for a selection. */
        featured_image?: string;
        /** @description Who may edit the collection. */
        collaborators?: components["schemas"]["Address"][];
        /** @description Royalty, in hundredths of a percent. */
        seller_fee_basis_points?: number;
        /** @description Who gets the royalty. */
        fee_recipient?: components["schemas"]["Address"];
      };
      /** @description The request that announces the change on chain. null when nothing changed, or when the collection has its own owner: then only that owner can announce. */
      request_id: components["schemas"]["RequestId"] | null;
      warnings?: components["schemas"]["Warnings"];
    };
    Erc721Nft: {
      contract_address: components["schemas"]["Address"];
      /** @description null when the contract tells no name. */
      collection_name: string | null;
      /** @description Kind of the contract. */
      type: "ERC721";
      token_id: components["schemas"]["Integer"];
      /** @description ERC1155: number of copies in this wallet or this collection. */
      quantity?: components["schemas"]["Integer"];
      /** @description URI of the metadata, as the contract returns it. Of an adopted collection, where the service has its copy of them. */
      token_uri: string | null;
      /** @description Only of hosted tokens, and of those of adopted collections that were copied here. Of the latter, the fields of this list that have these types: `token_uri` has all of them, as they came. */
      metadata: components["schemas"]["TokenMetadata"] | null;
      /** @description Time of the block of the mint. */
      minted_at: components["schemas"]["Time"] | null;
      /** @description true when the block of the last change of the owner or of the number of copies is final. false: it is in a block that a reorg can still drop. */
      final: boolean;
      /** @description null when the token was burnt. */
      owner: components["schemas"]["Address"] | null;
    };
    Erc1155Nft: PageOfList & {
      contract_address: components["schemas"]["Address"];
      /** @description null when the contract tells no name. */
      collection_name: string | null;
      /** @description Kind of the contract. */
      type: "ERC1155";
      token_id: components["schemas"]["Integer"];
      /** @description ERC1155: number of copies in this wallet or this collection. */
      quantity?: components["schemas"]["Integer"];
      /** @description URI of the metadata, as the contract returns it. Of an adopted collection, where the service has its copy of them. */
      token_uri: string | null;
      /** @description Only of hosted tokens, and of those of adopted collections that were copied here. Of the latter, the fields of this list that have these types: `token_uri` has all of them, as they came. */
      metadata: components["schemas"]["TokenMetadata"] | null;
      /** @description Time of the block of the mint. */
      minted_at: components["schemas"]["Time"] | null;
      /** @description true when the block of the last change of the owner or of the number of copies is final. false: it is in a block that a reorg can still drop. */
      final: boolean;
      /** @description The owners of this page. */
      owners: {
        address: components["schemas"]["Address"];
        /** @description Copies that the owner has. */
        quantity: components["schemas"]["Integer"];
        /** @description true when the block of the last change of the number of copies is final. false: it is in a block that a reorg can still drop. */
        final: boolean;
      }[];
    };
    ChangedToken: {
      metadata: components["schemas"]["TokenMetadata"];
      /** @description The request that announces the change on chain. null when nothing changed, or when the collection has its own owner: then only that owner can announce. */
      request_id: components["schemas"]["RequestId"] | null;
      warnings?: components["schemas"]["Warnings"];
    };
    UploadedMedia: {
      /** @description The file's address, for `image` and `animation_url`. */
      uri: string;
      /** @description The file's CID (version 1). The same bytes always have the same CID. */
      cid: string;
      /** @description The media type, detected from the bytes. */
      type: string;
      /** @description The size of the file, in bytes. */
      bytes: number;
    };
    BatchResults: {
      /** @description One result for each item, in the order of the items. */
      results: (components["schemas"]["Accepted"] | components["schemas"]["ItemError"])[];
    };
    /** @description The error that the single call would answer. Fields are those of the item. */
    ItemError: ErrorOf<
      | "malformed_json"
      | "malformed_request"
      | "unauthorized"
      | "forbidden"
      | "not_found"
      | "method_not_allowed"
      | "request_timeout"
      | "idempotency_key_reused"
      | "not_retryable"
      | "answer_expired"
      | "payload_too_large"
      | "unsupported_media_type"
      | "range_not_satisfiable"
      | "expectation_failed"
      | "validation_failed"
      | "adoption_not_permitted"
      | "user_identifier_taken"
      | "app_name_taken"
      | "wallet_not_found"
      | "wallet_watch_only"
      | "collection_not_found"
      | "contract_not_supported"
      | "not_supported_by_chain"
      | "too_many_contracts"
      | "too_many_webhooks"
      | "token_not_found"
      | "token_already_exists"
      | "insufficient_balance"
      | "supply_exceeded"
      | "wrong_collection_type"
      | "wrong_hosting"
      | "not_transferable"
      | "token_busy"
      | "receiver_rejected"
      | "service_cannot_mint"
      | "metadata_frozen"
      | "rate_limited"
      | "quota_exceeded"
      | "internal_error"
      | "unavailable"
    >;
    /** @description What is wrong with each field. null when the error is about no field. */
    FieldErrors:
      | {
          /** @description Name of the field, or its place, such as `attributes.0.value`. */
          field: string;
          /** @description What is wrong, as a word for programs. */
          code: string;
          /** @description What is wrong, and what to do. */
          message: string;
        }[]
      | null;
    CheckedReceivers: {
      /** @description One for each entry, in the order of the entries. */
      receivers: components["schemas"]["CheckedReceiver"][];
    };
    CheckedReceiver: {
      /**
       * @description - `wallet`: a wallet of the app.
       *     - `new_user`: a user without a wallet. The service creates the wallet with the token.
       *     - `account`: an account without code.
       *     - `contract`: a contract.
       *     - `delegated_account`: an account that runs the code of a delegate (EIP-7702).
       *     - `refused`: the service sends nothing there. `message` says why.
       *     - `unknown`: the node could not tell.
       *     Further words may come.
       */
      kind: "wallet" | "new_user" | "account" | "contract" | "delegated_account" | "refused" | "unknown";
      /** @description null for a new user, and for a name that is refused. */
      address: components["schemas"]["Address"] | null;
      /** @description The app's name for the user. null when there is none. */
      user_identifier: string | null;
      /** @description The contract whose code the account runs. null: none. */
      delegate: components["schemas"]["Address"] | null;
      /** @description Whether a token can arrive. null: nothing is known, so do not read it as true. */
      accepts: boolean | null;
      /** @description Why the token cannot arrive, or why nothing is known. null when `accepts` is true. */
      message: string | null;
    };
    ContractsPage: PageOfList & {
      /** @description The items of this page. */
      contracts: components["schemas"]["FollowedContract"][];
    };
    FollowedContract: {
      address: components["schemas"]["Address"];
      /** @description null until the service has asked the contract. */
      type: components["schemas"]["CollectionType"] | null;
      /** @description null when the contract tells no name. */
      name: string | null;
      /**
       * @description - `checking`: not asked for its type yet.
       *     - `reading`: its past is read.
       *     - `followed`: its transfers are followed.
       *     - `quarantined`: left alone until `until`, for `reason`.
       *     - `unsupported`: no ERC721 or ERC1155 contract.
       */
      state: "checking" | "reading" | "followed" | "quarantined" | "unsupported";
      /** @description Why it is quarantined. `flood`: it reports too many moves of tokens. `failing`: calls that read it use too much gas or answer too many bytes. */
      reason: ("flood" | "failing") | null;
      /** @description Last block whose transfers are stored. null: none is. */
      as_of_block: number | null;
      /** @description When the quarantine ends and the contract is tried again. */
      until: components["schemas"]["Time"] | null;
      /** @description When the app began to follow it. */
      followed_at: components["schemas"]["Time"];
    };
    EndedContract: Record<string, never>;
    RequestsPage: PageOfList & {
      /** @description The items of this page. */
      requests: components["schemas"]["Request"][];
    };
    Request: {
      request_id: components["schemas"]["RequestId"];
      /** @description What the request does. */
      type: "collection" | "mint" | "transfer" | "burn" | "metadata" | "freeze";
      /** @description pending: accepted. processing: its transaction was sent. completed and failed are final: they never change. */
      status: "pending" | "processing" | "completed" | "failed";
      /** @description Why the request is not final yet. null when it is. Later versions may have further words. media: Its media is being copied, or its metadata is being frozen. queued: It waits for its turn to be sent. simulation: Its call is being simulated and signed, or is simulated again later. gas_limit: As far as one node says, no transaction has room for its gas. It is tried again within a minute. fees_too_high: Gas costs more than the operator accepts. It is sent when fees fall. low_funds: The keys that pay for transactions cannot pay. It is sent when the operator has funded them. paused: The operator has paused the relay. node_unavailable: The node of the chain does not answer. nodes_disagree: The nodes of the chain contradict each other, or too few of them agree. lane_stuck: No block has contained its transaction, or one before it, for more than five minutes. withdrawal: The operator is moving coins out of its wallet. It is sent when that transaction is final. confirmations: Its transaction was sent. It waits for a block, and for blocks after it. unknown: The service does not know. For example, no process that sends requests runs. */
      waiting_for:
        | (
            | "media"
            | "queued"
            | "simulation"
            | "gas_limit"
            | "fees_too_high"
            | "low_funds"
            | "paused"
            | "node_unavailable"
            | "nodes_disagree"
            | "lane_stuck"
            | "withdrawal"
            | "confirmations"
            | "unknown"
          )
        | null;
      /** @description The `reference` of the call that created the request. null when it had none. */
      reference: string | null;
      /** @description The collection that the request concerns. null while a collection is being created. */
      nft_collection: components["schemas"]["Address"] | null;
      /** @description The token that the request concerns. null for a collection, and until the id of a new token is known. */
      nft_token_id: components["schemas"]["Integer"] | null;
      /** @description The contract that the request concerns. null while a collection is being created. */
      contract_address: components["schemas"]["Address"] | null;
      /** @description The token that the request concerns. null for a collection, and until the id of a new token is known. */
      token_id: components["schemas"]["Integer"] | null;
      /** @description Number of copies. null unless tokens are minted, transferred or burnt. */
      quantity: components["schemas"]["Integer"] | null;
      /** @description Who gives the token in a transfer or burn. null otherwise. */
      from_address: components["schemas"]["Address"] | null;
      /** @description Who gets the token of a mint or a transfer. null otherwise. */
      to_address: components["schemas"]["Address"] | null;
      /** @description The app's own name for the user who has the wallet `from_address` now. null: none of the app's users has it. */
      from_user: string | null;
      /** @description The app's own name for the user who has the wallet `to_address` now. null: none of the app's users has it. */
      to_user: string | null;
      /** @description The transaction that carries the request. null before it is sent. It can change until the request is final. */
      transaction_hash: components["schemas"]["TransactionHash"] | null;
      /** @description The block of that transaction. null until it is mined. */
      block_number: number | null;
      /** @description Its share of the gas of the transactions that carried it. null: none is mined, or the node did not show the receipt yet. */
      gas_used: number | null;
      /** @description Its share of their fees, in wei. It is set together with `gas_used`. */
      fee_wei: components["schemas"]["Wei"] | null;
      /** @description Why the request failed. null unless it failed. */
      error_code: components["schemas"]["RequestFailure"] | null;
      /** @description The same as a sentence for a person, with what to do next. `errors` can have more. null unless it failed. */
      error_message: string | null;
      errors: components["schemas"]["FieldErrors"];
      /** @description The failed request that this one sends again. null: none. */
      retry_of: components["schemas"]["RequestId"] | null;
      /** @description The request that sends this one again. null: none. */
      retried_by: components["schemas"]["RequestId"] | null;
      created_at: components["schemas"]["Time"];
      updated_at: components["schemas"]["Time"];
    };
    /** @description An amount in wei, as a decimal string. */
    Wei: string;
    RegisteredWebhook: {
      /** @description Id of the webhook. The webhook of `/v1/webhook` has the id of the app. */
      id: string;
      /** @description Where events are sent. */
      url: string;
      /** @description null means `sent`, `completed`, `error`, `corrected`. */
      events:
        | (
            | "sent"
            | "completed"
            | "error"
            | "corrected"
            | "in_block"
            | "dropped"
            | "token.minted"
            | "token.burned"
            | "token.sent"
            | "token.received"
            | "token.transferred"
            | "gap"
          )[]
        | null;
      /** @description Contracts whose events are sent. null means all. */
      collections: components["schemas"]["Address"][] | null;
      /** @description The app's own words. */
      description: string | null;
      /** @description Set when the receiver answered 410 or the operator disabled the webhook. Nothing is sent until the app sets its `url` again. */
      disabled_at: components["schemas"]["Time"] | null;
      /** @description Why deliveries fail. null: they do not. */
      last_error: string | null;
      created_at: components["schemas"]["Time"];
      updated_at: components["schemas"]["Time"];
      /** @description Signing secret. Shown only once, at the first registration. */
      secret: string | null;
    };
    Webhook: {
      /** @description Id of the webhook. The webhook of `/v1/webhook` has the id of the app. */
      id: string;
      /** @description Where events are sent. */
      url: string;
      /** @description null means `sent`, `completed`, `error`, `corrected`. */
      events:
        | (
            | "sent"
            | "completed"
            | "error"
            | "corrected"
            | "in_block"
            | "dropped"
            | "token.minted"
            | "token.burned"
            | "token.sent"
            | "token.received"
            | "token.transferred"
            | "gap"
          )[]
        | null;
      /** @description Contracts whose events are sent. null means all. */
      collections: components["schemas"]["Address"][] | null;
      /** @description The app's own words. */
      description: string | null;
      /** @description Set when the receiver answered 410 or the operator disabled the webhook. Nothing is sent until the app sets its `url` again. */
      disabled_at: components["schemas"]["Time"] | null;
      /** @description Why deliveries fail. null: they do not. */
      last_error: string | null;
      created_at: components["schemas"]["Time"];
      updated_at: components["schemas"]["Time"];
    };
    RemovedWebhook: Record<string, never>;
    Delivery: {
      /** @description Id of the delivery. */
      id: string;
      /** @description The webhook that gets it. It may have been removed. */
      webhook_id: string;
      /** @description `id` of the body and `webhook-id` of the call. The same at every try. */
      event_id: string;
      /** @description The `type` of the event. */
      event_type:
        | "sent"
        | "completed"
        | "error"
        | "corrected"
        | "in_block"
        | "dropped"
        | "token.minted"
        | "token.burned"
        | "token.sent"
        | "token.received"
        | "token.transferred"
        | "gap"
        | "test";
      /** @description null unless the event is one of a request. */
      request_id: components["schemas"]["RequestId"] | null;
      /** @description failed: no retry is left, or the webhook was removed. */
      status: "pending" | "delivered" | "failed";
      /** @description Number of tries so far. */
      attempts: number;
      /** @description Latest time of the next try. null when the delivery has ended. */
      next_attempt_at: components["schemas"]["Time"] | null;
      /** @description HTTP status of the receiver's answer to the last try. null when there was no answer. */
      response_status: number | null;
      /** @description How the body of that answer begins: at most 1,024 bytes, as text. Bytes that are not UTF-8, and control characters, are replaced by U+FFFD. The receiver chose this text: escape it before you show it. null when the answer had no body, or there was no answer. */
      response_body: string | null;
      /** @description Why the last try failed. */
      error: string | null;
      created_at: components["schemas"]["Time"];
      updated_at: components["schemas"]["Time"];
    };
    RotatedSecret: {
      /** @description The new signing secret. Shown only once. */
      secret: string;
      /** @description Until then the previous secret signs as well: each call carries both signatures. */
      previous_expires_at: components["schemas"]["Time"];
    };
    DeliveriesPage: PageOfList & {
      /** @description The items of this page. */
      deliveries: components["schemas"]["Delivery"][];
    };
    RedeliveredEvents: {
      /** @description How many events are sent again. */
      redelivered: number;
      /** @description Whether there are more. Then call again. */
      more: boolean;
    };
    DeliveryWithPayload: {
      /** @description Id of the delivery. */
      id: string;
      /** @description The webhook that gets it. It may have been removed. */
      webhook_id: string;
      /** @description `id` of the body and `webhook-id` of the call. The same at every try. */
      event_id: string;
      /** @description The `type` of the event. */
      event_type:
        | "sent"
        | "completed"
        | "error"
        | "corrected"
        | "in_block"
        | "dropped"
        | "token.minted"
        | "token.burned"
        | "token.sent"
        | "token.received"
        | "token.transferred"
        | "gap"
        | "test";
      /** @description null unless the event is one of a request. */
      request_id: components["schemas"]["RequestId"] | null;
      /** @description failed: no retry is left, or the webhook was removed. */
      status: "pending" | "delivered" | "failed";
      /** @description Number of tries so far. */
      attempts: number;
      /** @description Latest time of the next try. null when the delivery has ended. */
      next_attempt_at: components["schemas"]["Time"] | null;
      /** @description HTTP status of the receiver's answer to the last try. null when there was no answer. */
      response_status: number | null;
      /** @description How the body of that answer begins: at most 1,024 bytes, as text. Bytes that are not UTF-8, and control characters, are replaced by U+FFFD. The receiver chose this text: escape it before you show it. null when the answer had no body, or there was no answer. */
      response_body: string | null;
      /** @description Why the last try failed. */
      error: string | null;
      created_at: components["schemas"]["Time"];
      updated_at: components["schemas"]["Time"];
      /** @description The body that the receiver gets, byte by byte. */
      payload: string;
    };
    Webhooks: {
      /** @description The webhook of `/v1/webhook` comes first. */
      webhooks: components["schemas"]["Webhook"][];
    };
    CreatedWebhook: {
      /** @description Id of the webhook. The webhook of `/v1/webhook` has the id of the app. */
      id: string;
      /** @description Where events are sent. */
      url: string;
      /** @description null means `sent`, `completed`, `error`, `corrected`. */
      events:
        | (
            | "sent"
            | "completed"
            | "error"
            | "corrected"
            | "in_block"
            | "dropped"
            | "token.minted"
            | "token.burned"
            | "token.sent"
            | "token.received"
            | "token.transferred"
            | "gap"
          )[]
        | null;
      /** @description Contracts whose events are sent. null means all. */
      collections: components["schemas"]["Address"][] | null;
      /** @description The app's own words. */
      description: string | null;
      /** @description Set when the receiver answered 410 or the operator disabled the webhook. Nothing is sent until the app sets its `url` again. */
      disabled_at: components["schemas"]["Time"] | null;
      /** @description Why deliveries fail. null: they do not. */
      last_error: string | null;
      created_at: components["schemas"]["Time"];
      updated_at: components["schemas"]["Time"];
      /** @description Signing secret. Shown only once. */
      secret: string;
    };
    EventsFeed: {
      /** @description Oldest first. */
      events: (
        | components["schemas"]["Event"]
        | components["schemas"]["TokenEvent"]
        | components["schemas"]["TokenCorrection"]
        | components["schemas"]["GapEvent"]
      )[];
      /** @description Cursor for `after`. Always present: used again later, it finds the events since then. */
      next: string;
    };
    /** @description A row of the export of holders. */
    ExportedHolding: {
      /** @description The app's user who has the owner's wallet. null: the owner has no such wallet. */
      user_identifier: string | null;
      /** @description The owner. */
      address: components["schemas"]["Address"];
      /** @description The token that the owner has. */
      token_id: components["schemas"]["Integer"];
      /** @description Copies that the owner has; 1 for ERC721. */
      quantity: components["schemas"]["Integer"];
      /** @description Block in which the owner got the token, without giving all copies away since. */
      since_block: number;
      /** @description true when the block of the last change of the quantity is final. false: it is in a block that a reorg can still drop. */
      final: boolean;
    };
    /** @description A row of the export of wallets. */
    ExportedWallet: {
      /** @description The app's own name for the user. null for a wallet without one. */
      user_identifier: string | null;
      address: components["schemas"]["Address"];
      created_at: components["schemas"]["Time"];
      /** @description true: an address of the user whose key is not at the service. Its tokens, history and events are shown, and it cannot send or burn tokens. */
      watch_only: boolean;
    };
    Usage: {
      from: components["schemas"]["Day"];
      to: components["schemas"]["Day"];
      /** @description The sums of the days. */
      total: components["schemas"]["UsageSums"];
      /** @description Every day, oldest first. */
      days: {
        date: components["schemas"]["Day"];
        /** @description Requests that were accepted. */
        requests_accepted: number;
        /** @description Requests that became `completed`. */
        requests_completed: number;
        /** @description Requests that became `failed`. */
        requests_failed: number;
        /** @description Gas of transactions, by the day of their blocks. */
        gas_used: number;
        /** @description Fees of the same transactions. */
        fee_wei: components["schemas"]["Wei"];
        /** @description Bytes of the files that were copied for the app's requests (`copy_media`), counted for each request. */
        media_bytes: number;
        /** @description Wallets that were created. */
        wallets_created: number;
      }[];
      quotas: components["schemas"]["Quotas"];
    };
    /**
     * Format: date
     * @description A day in UTC, such as `2026-05-04`.
     */
    Day: string;
    UsageSums: {
      /** @description Requests that were accepted. */
      requests_accepted: number;
      /** @description Requests that became `completed`. */
      requests_completed: number;
      /** @description Requests that became `failed`. */
      requests_failed: number;
      /** @description Gas of transactions, by the day of their blocks. */
      gas_used: number;
      /** @description Fees of the same transactions. */
      fee_wei: components["schemas"]["Wei"];
      /** @description Bytes of the files that were copied for the app's requests (`copy_media`), counted for each request. */
      media_bytes: number;
      /** @description Wallets that were created. */
      wallets_created: number;
    };
    /** @description What counts now, whatever the range of days, and the limits that the operator has set. */
    Quotas: {
      /** @description Bytes of the files that the app uploaded or that its requests copied (`copy_media`). Each file counts once, until the operator deletes it with `media collect`. */
      media_bytes: components["schemas"]["Quota"];
      /** @description Requests that wait for their media (`copy_media`, freezing). */
      media_requests: components["schemas"]["Quota"];
      /** @description Wallets of the app. */
      wallets: components["schemas"]["Quota"];
      /** @description Bytes of metadata (as JSON in UTF-8) and unlockable content that the app's requests have stored. A change of metadata counts by its new size. What belongs to a failed request does not count. */
      stored_bytes: components["schemas"]["Quota"];
      /** @description Requests for a new collection that did not fail. */
      collections: components["schemas"]["Quota"];
      /** @description Requests to mint that did not fail. A request counts once, however many copies it mints. */
      mints: components["schemas"]["Quota"];
      /** @description Tokens of the app that are neither revoked nor expired. */
      api_tokens: components["schemas"]["Quota"];
    };
    Quota: {
      /** @description What counts now. */
      used: number;
      /** @description null: unlimited. */
      limit: number | null;
    };
    Summary: {
      /** @description Today until now. */
      today: components["schemas"]["DaySummary"];
      /** @description The whole day before. */
      yesterday: components["schemas"]["DaySummary"];
      /** @description Requests that are `pending` or `processing`. */
      requests_waiting: number;
      /** @description Collections whose request has completed. */
      collections: number;
      /** @description Wallets of the app. */
      wallets: number;
      /** @description Whether requests are sent now. Later versions may have further words. ok: Requests are sent. low_funds: The keys that pay for transactions are low on funds. Requests are accepted, and wait when nothing is left. paused: The operator has paused the relay. Requests are accepted, and wait until it goes on. fees_too_high: Gas costs more than the operator accepts. Requests are accepted, and wait until fees fall. lane_stuck: No block has contained the transactions that were sent for more than five minutes. Requests are accepted, and wait. unknown: The node or the database could not be asked, or no process that sends requests runs. */
      sending: "ok" | "low_funds" | "paused" | "fees_too_high" | "lane_stuck" | "unknown";
    };
    DaySummary: {
      date: components["schemas"]["Day"];
      /** @description Requests that were accepted. */
      requests_accepted: number;
      /** @description Requests that became `completed`. */
      requests_completed: number;
      /** @description Requests that became `failed`. */
      requests_failed: number;
      /** @description Mints among those that became `completed`. Mints of earlier versions do not count. */
      mints_completed: number;
    };
    /** @description A session of the console. */
    ConsoleSession: {
      /** @description Id of the session, for `npm run cli -- console revoke`. It is not a secret. */
      session_id: string;
      /** @description `app`: the session is for one app. `operator`: it is for all apps. */
      kind: "app" | "operator";
      /** @description The app of the session. null in the operator's session. */
      app: {
        /** @description Id of the app. */
        app_id: string;
        /** @description Name of the app. */
        name: string;
      } | null;
      /** @description What the session may do. */
      scopes: (
        "read" | "accounts" | "collections" | "mint" | "transfer" | "webhooks" | "contracts" | "media" | "users"
      )[];
      /** @description When the session began. */
      created_at: components["schemas"]["Time"];
      /** @description When it ends. */
      expires_at: components["schemas"]["Time"];
      /** @description Id of the service's chain. */
      chain_id: number;
      /** @description Block explorer of the chain, for links. null: there is none. */
      explorer_url: string | null;
      /** @description Public URL of the service. */
      public_url: string;
    };
    EndedSession: Record<string, never>;
    TokensPage: {
      /** @description The items of this page. */
      tokens: components["schemas"]["Token"][];
      /** @description Cursor of the next page; null at the end. */
      next: string | null;
    };
    Token: {
      /** @description Names the token, also in `DELETE /v1/tokens/{token_id}`. */
      token_id: string;
      /** @description For your own reference. */
      name: string;
      /** @description What the token may do. */
      scopes: string[];
      /** @description Most calls per minute with this token. null: only the app is limited. */
      rate_limit_per_minute: number | null;
      created_at: components["schemas"]["Time"];
      /** @description null: the token never expires. */
      expires_at: components["schemas"]["Time"] | null;
      /** @description null: the token is not revoked. */
      revoked_at: components["schemas"]["Time"] | null;
    };
    NewToken: {
      /** @description Names the token, also in `DELETE /v1/tokens/{token_id}`. */
      token_id: string;
      /** @description For your own reference. */
      name: string;
      /** @description What the token may do. */
      scopes: string[];
      /** @description Most calls per minute with this token. null: only the app is limited. */
      rate_limit_per_minute: number | null;
      created_at: components["schemas"]["Time"];
      /** @description null: the token never expires. */
      expires_at: components["schemas"]["Time"] | null;
      /** @description null: the token is not revoked. */
      revoked_at: components["schemas"]["Time"] | null;
      /** @description The token itself. It is shown only now: the service stores its hash. */
      token: string;
    };
    AppsPage: {
      /** @description The items of this page. */
      apps: components["schemas"]["App"][];
      /** @description Cursor of the next page; null at the end. */
      next: string | null;
    };
    App: {
      /** @description The operator's session chooses the app with `X-Moneta-App: <app_id>`. */
      app_id: string;
      /** @description The name that the operator gave. */
      name: string;
      created_at: components["schemas"]["Time"];
      /** @description What the app has used today (UTC). */
      today: components["schemas"]["UsageSums"];
      /** @description What the app used in the last 30 days, today included. */
      last_30_days: components["schemas"]["UsageSums"];
      quotas: components["schemas"]["Quotas"];
    };
    NewApp: {
      /** @description Id of the app. */
      app_id: string;
      /** @description Name of the app. */
      name: string;
      created_at: components["schemas"]["Time"];
      /** @description Id of the token. */
      token_id: string;
      /** @description What the token may do. */
      scopes: string[];
      /** @description The token itself. It is shown only now: the service stores its hash. */
      token: string;
    };
    OperatorStatus: {
      /** @description Whether the process that answers can work, as `/readyz` says. */
      ready: boolean;
      /** @description The checks of `/readyz` in this process: `ok`, or what is wrong, in detail. */
      checks: { [key: string]: string };
      /** @description Requests of all apps that are not final. */
      backlog: {
        /** @description Requests that wait for their media. */
        media: number;
        /** @description Requests that wait to be sent. */
        pending: number;
        /** @description Requests whose transaction was sent. */
        processing: number;
      };
      /** @description How long the oldest request that waits to be sent has waited. null: none waits. */
      oldest_pending_seconds: number | null;
      /** @description How far the indexer is behind the node. */
      indexer: {
        /** @description The last block that the indexer processed. */
        checkpoint: number;
        /** @description The node's newest block. null while the node does not answer. */
        head: number | null;
        /** @description Blocks that the indexer has not processed yet. */
        lag_blocks: number | null;
      };
      /** @description Webhook deliveries of all apps. */
      deliveries: {
        /** @description Webhook deliveries with tries left. Counted up to 10,000. */
        waiting: number;
        /** @description Webhook deliveries that failed for good. Counted up to 10,000. */
        dead: number;
        /** @description How long the most overdue delivery should have been sent. null: none is overdue. */
        oldest_overdue_seconds: number | null;
      };
      /** @description Every lane, with its funds. */
      lanes: components["schemas"]["Lane"][];
      /** @description The nodes of `RPC_URLS`, as this process knows them. Empty with one node. */
      nodes: components["schemas"]["Node"][];
      /** @description Whether the relay is paused. null: not known. */
      relay_paused: boolean | null;
      /** @description Contracts of others that are left alone for some time. */
      quarantined_contracts: number;
      /** @description Running processes of the service. One with the roles `api` and `relayer` counts twice. */
      processes: {
        /** @description Processes with the role `api`. */
        api: number;
        /** @description Processes with the role `relayer`. */
        relayer: number;
        /** @description Processes with neither of these roles. */
        other: number;
      };
    };
    Lane: {
      /** @description Number of the lane. */
      lane: number;
      /** @description Send the chain's own currency to this address. */
      address: components["schemas"]["Address"];
      /** @description false: a lane of earlier settings, which only finishes what it has begun. */
      in_use: boolean;
      /** @description null while the node does not answer. */
      balance_wei: components["schemas"]["Wei"] | null;
      /** @description What its transactions of the last 24 hours cost. null: not known, or the lane is not in use. */
      spent_24h_wei: components["schemas"]["Wei"] | null;
      /** @description For how many days the balance lasts at this rate. null: nothing was spent, or not known. */
      days_left: number | null;
      /** @description Whether it cannot pay for ten transactions like the recent ones at the present fees. null: not known. */
      low_funds: boolean | null;
      /** @description How much to send to a lane that is low on funds, at the present fees. null: nothing, or not known. */
      advised_wei: components["schemas"]["Wei"] | null;
      /** @description Age of its oldest transaction that no block contains. null: there is none. */
      oldest_unmined_seconds: number | null;
    };
    Node: {
      /** @description Its place in `RPC_URLS`, from 1. */
      node: number;
      /** @description The host of its URL. The rest may contain a key, and is never shown. */
      host: string;
      /** @description `up`: it is used. Any other: why it is not used now. */
      state: "up" | "down" | "rate_limited" | "wrong_chain" | "behind" | "disagrees";
      /** @description The newest block that it has named. null: none yet. */
      head: number | null;
      /** @description How long its last answer took. null: it has not answered. */
      latency_ms: number | null;
      /** @description Calls that it failed since the process that answers started. */
      failures: number;
      /** @description Whether signed transactions are sent to it. */
      sends: boolean;
      /** @description Why it is not used. null: it is used. */
      problem: string | null;
    };
    DoctorReport: {
      /** @description The worst of the findings. */
      result: "ok" | "warning" | "problem";
      /** @description One or more for each check, in the order of the checks. */
      findings: {
        /** @description Name of the check. */
        check: string;
        /** @description How serious it is. */
        result: "ok" | "warning" | "problem";
        /** @description What was found, and what to do. */
        words: string;
        /** @description The name of this state in the log and in `/metrics`. */
        condition:
          | (
              | "low_funds"
              | "relay_paused"
              | "contract_quarantined"
              | "minting_stopped"
              | "backlog_growing"
              | "row_parked"
              | "lane_stuck"
              | "node_down"
              | "nodes_disagree"
              | "receipts_differ"
              | "receipts_unproven"
            )
          | null;
      }[];
      /** @description When the checks began. */
      checked_at: components["schemas"]["Time"];
    };
    OperatorSeries: {
      /** @description Oldest first, at most 120. */
      points: components["schemas"]["OperatorPoint"][];
      /** @description How long each point is. */
      seconds_per_point: number;
    };
    OperatorPoint: {
      /** @description When the point begins. It ends where the next one begins; the last one ends later. */
      at: components["schemas"]["Time"];
      /** @description Requests that became `completed`. */
      completed: number;
      /** @description Requests that became `failed`. */
      failed: number;
      /** @description Half of these requests took at most so long, from acceptance to the final outcome. Exact to 10 %. null: no request became final. */
      latency_p50_ms: number | null;
      /** @description The same for 95 % of them. */
      latency_p95_ms: number | null;
      /** @description Their shares of the fees of the transactions that carried them. */
      fee_wei: components["schemas"]["Wei"];
    };
    /** @description Contract-level metadata (ERC-7572). */
    CollectionMetadata: {
      /** @description Name of the collection. */
      name: string;
      /** @description Symbol of the collection. */
      symbol: string;
      /** @description Text about the collection. */
      description?: string;
      /** @description URI of a picture. */
      image?: string;
      /** @description URI of a website. */
      external_link?: string;
      /** @description URI of a wide picture. */
      banner_image?: string;
      /** @description URI of a picture for a selection. */
      featured_image?: string;
      /** @description Who may edit the collection. */
      collaborators?: string[];
      /** @description Royalty, in hundredths of a percent. */
      seller_fee_basis_points?: number;
      /** @description Who gets the royalty. */
      fee_recipient?: string;
    };
  };
  responses: {
    /** @description The body is not valid JSON in UTF-8. Correct the body and send it again. */
    MalformedJson: Answer<"X-Request-Id", ErrorOf<"malformed_json">>;
    /** @description The call is not valid HTTP. Check the request line and the headers; HTTP/1.1 requires `Host`. */
    MalformedRequest: Answer<"X-Request-Id", ErrorOf<"malformed_request">>;
    /** @description The token is missing, unknown, expired or revoked. Send a valid token in `Authorization: Bearer <token>`. */
    Unauthorized: Answer<
      "X-Request-Id" | "WWW-Authenticate" | "RateLimit" | "RateLimit-Policy",
      ErrorOf<"unauthorized">
    >;
    /** @description The token lacks the scope that this call needs. Use a token with that scope. */
    Forbidden: Answer<"X-Request-Id", ErrorOf<"forbidden">>;
    /** @description Not found, or it belongs to another app. Check the path and the ids in it. */
    NotFound: Answer<"X-Request-Id", ErrorOf<"not_found">>;
    /** @description This Idempotency-Key was already used with a different path or body. Use a new key for a new request. */
    IdempotencyKeyReused: Answer<"X-Request-Id", ErrorOf<"idempotency_key_reused">>;
    /** @description Only a request that has failed, and that no reorg has corrected, can be sent again. Look at its `status`. */
    NotRetryable: Answer<"X-Request-Id", ErrorOf<"not_retryable">>;
    /** @description An earlier call with this Idempotency-Key was accepted, and nothing was done now. Its answer is no longer stored. Look for what it created, such as its requests with `GET /v1/requests`, before you repeat it with a new key. */
    AnswerExpired: Answer<"X-Request-Id", ErrorOf<"answer_expired">>;
    /** @description The body, or the URL with the headers, is too large. Send a smaller request. */
    PayloadTooLarge: {
      headers: { [name: string]: unknown };
      content: { "application/json": ErrorOf<"payload_too_large"> };
    };
    /** @description The body has the wrong type. Send JSON in UTF-8 with `Content-Type: application/json`; to `POST /v1/media`, send the file itself with its media type. */
    UnsupportedMediaType: Answer<"X-Request-Id", ErrorOf<"unsupported_media_type">>;
    /** @description The requested range is outside the content. `Content-Range` has the size of the content. */
    RangeNotSatisfiable: Answer<"X-Request-Id", ErrorOf<"range_not_satisfiable">>;
    /**
     * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
     *     - `user_identifier_taken`: Another wallet of this app already has this user identifier. Use that wallet, or another identifier.
     */
    ValidationFailedOrUserIdentifierTaken: Answer<
      "X-Request-Id",
      ErrorOf<"validation_failed" | "user_identifier_taken">
    >;
    /** @description Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them. */
    ValidationFailed: Answer<"X-Request-Id", ErrorOf<"validation_failed">>;
    /**
     * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
     *     - `contract_not_supported`: The contract is neither ERC721 nor ERC1155, or it has no function for this call. Check the address; `errors` says what it lacks.
     *     - `too_many_contracts`: The app follows as many contracts of others as it may. Stop following one with DELETE /v1/contracts/<address>, or ask the operator to raise the limit.
     */
    ValidationFailedOrContractNotSupportedOrTooManyContracts: Answer<
      "X-Request-Id",
      ErrorOf<"validation_failed" | "contract_not_supported" | "too_many_contracts">
    >;
    /**
     * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
     *     - `contract_not_supported`: The contract is neither ERC721 nor ERC1155, or it has no function for this call. Check the address; `errors` says what it lacks.
     */
    ValidationFailedOrContractNotSupported: Answer<
      "X-Request-Id",
      ErrorOf<"validation_failed" | "contract_not_supported">
    >;
    /**
     * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
     *     - `wrong_hosting`: The call needs the other kind of hosting (hosted or self-hosted). The message of the answer says which kind the collection has, and what to send instead.
     *     - `metadata_frozen`: The collection's metadata is frozen, or about to be. It can never change, and no new token with metadata can be minted.
     */
    ValidationFailedOrWrongHostingOrMetadataFrozen: Answer<
      "X-Request-Id",
      ErrorOf<"validation_failed" | "wrong_hosting" | "metadata_frozen">
    >;
    /**
     * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
     *     - `too_many_webhooks`: The app has 10 webhooks, and may not have more. Change or remove one: GET /v1/webhooks lists them.
     */
    ValidationFailedOrTooManyWebhooks: Answer<"X-Request-Id", ErrorOf<"validation_failed" | "too_many_webhooks">>;
    /**
     * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
     *     - `app_name_taken`: Another app of this service already has this name. Choose another name.
     */
    ValidationFailedOrAppNameTaken: Answer<"X-Request-Id", ErrorOf<"validation_failed" | "app_name_taken">>;
    /**
     * @description - `rate_limited`: Too many calls. Try again after the number of seconds in `Retry-After`.
     *     - `quota_exceeded`: The app has used up a quota, such as its gas budget for today or its media bytes. `message` or `errors` says which one, its limit, and what to do. `Retry-After` has the seconds after which it is worth trying again.
     */
    RateLimitedOrQuotaExceeded: Answer<
      "X-Request-Id" | "Retry-After" | "RateLimit" | "RateLimit-Policy",
      ErrorOf<"rate_limited" | "quota_exceeded">
    >;
    /** @description Too many calls. Try again after the number of seconds in `Retry-After`. */
    RateLimited: Answer<"X-Request-Id" | "Retry-After" | "RateLimit" | "RateLimit-Policy", ErrorOf<"rate_limited">>;
    /** @description The service failed unexpectedly. Give its operator the `X-Request-Id` of this answer: the log has the cause. */
    InternalError: Answer<"X-Request-Id", ErrorOf<"internal_error">>;
    /** @description The service cannot handle this call now. Try again after the number of seconds in `Retry-After`. */
    Unavailable: Answer<"X-Request-Id" | "Retry-After", ErrorOf<"unavailable">>;
  };
  parameters: {
    /**
     * @description Makes the call safe to repeat: the same key with the same body gets the first answer again, and nothing happens twice. The body is compared as parsed JSON: white space, the order of keys and fields that are null or an empty text do not count. Use a new random value for each new call.
     * @example 7b0f3c52-6f0e-4d7e-9d0a-4f1f0f0f8a11
     */
    IdempotencyKey: string;
    /**
     * @description For streams: the `id` of the last event that you have. The stream continues after it. It wins over `after`.
     * @example ZXZlbnRzLjc
     */
    LastEventId: string;
    /** @description Most items on the page. The default is 30. */
    LongLimit: number | bigint;
    /** @description Items to skip. The default is 0. Use `cursor` to go further than the maximum. */
    Offset: number | bigint;
    /** @description `next` of the previous page. Cannot be combined with `offset`. */
    Cursor: string;
    /** @description Which come first, by their creation. The default is `oldest`. */
    Order: "newest" | "oldest";
    /** @description Only those with these addresses: at most 30, separated by commas. Those that the app does not have are left out, and the last ones where they would not fit into an answer: `limit` and `total` then say how many it has. All come on one page, so this cannot be combined with `limit`, `offset`, `cursor`, `order` or `search`. */
    Addresses: string;
    /** @description Address of the wallet or of the contract, in any case. */
    Address: string;
    /** @description Most items on the page. The default is the maximum. */
    Limit: number | bigint;
    /** @description Address of the contract, in any case. */
    ContractAddress: string;
    /** @description Token id, as decimal digits. */
    TokenId: number | bigint | string;
    /** @description The `id` of the delivery. */
    DeliveryId: string;
    /** @description The `id` of the webhook. */
    WebhookId: string;
  };
  requestBodies: never;
  headers: {
    /**
     * @description Id of the call in the service's log. The caller's own `X-Request-Id` is kept when it has 1 to 128 letters, digits, dots, dashes or underscores.
     * @example 1c9ad3f2-3a1b-4f44-8d9e-0a7d0a3d1f0e
     */
    "X-Request-Id": string;
    /**
     * @description Calls left (`r`), and the seconds until the window ends (`t`). Batches also have the items left, after a comma: `"items";r=59000;t=60`.
     * @example "app";r=599;t=60
     */
    RateLimit: string;
    /**
     * @description Calls allowed (`q`) per window of seconds (`w`).
     * @example "app";q=600;w=60
     */
    "RateLimit-Policy": string;
    /**
     * @description Seconds to wait before a retry.
     * @example 5
     */
    "Retry-After": number;
    /**
     * @description How to authenticate.
     * @example Bearer
     */
    "WWW-Authenticate": string;
    /**
     * @description The last block that was stored when the rows were read.
     * @example 21000000
     */
    "Moneta-As-Of-Block": number;
    /**
     * @description Tag of this version, for `If-None-Match`.
     * @example "dGFn"
     */
    ETag: string;
    /**
     * @description `Range` is supported.
     * @example bytes
     */
    "Accept-Ranges": string;
    /**
     * @description The bytes in this answer, and the total size.
     * @example bytes 0-99/1234
     */
    "Content-Range": string;
    /**
     * @description Whether and how long others may cache the answer.
     * @example public, max-age=300
     */
    "Cache-Control": string;
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  listAccounts: WithoutBody<{
    parameters: Inputs<{
      query?: Paging & {
        /** @description Which come first, by their creation. The default is `oldest`. */
        order?: components["parameters"]["Order"];
        /** @description Only those with these addresses: at most 30, separated by commas. Those that the app does not have are left out, and the last ones where they would not fit into an answer: `limit` and `total` then say how many it has. All come on one page, so this cannot be combined with `limit`, `offset`, `cursor`, `order` or `search`. */
        addresses?: components["parameters"]["Addresses"];
        /** @description Only those whose user identifier begins with this text. Capital letters from A to Z do not count. The first ones come on one page of at most `limit`, and `total` counts these: to find others, send more of the text. Cannot be combined with `offset`, `cursor`, `order` or `addresses`. */
        search?: string;
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["WalletsPage"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  createAccount: {
    parameters: Inputs<{ header?: Repeatable }>;
    requestBody?: { content: { "application/json": components["schemas"]["CreateWallet"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Wallet"]>;
      400: components["responses"]["MalformedJson"];
      409: components["responses"]["IdempotencyKeyReused"];
      410: components["responses"]["AnswerExpired"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailedOrUserIdentifierTaken"];
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  };
  getAccountOfUser: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The app's own name for the user, percent-encoded. */
        user_identifier: string;
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Wallet"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  listContents: WithoutBody<{
    parameters: Inputs<{
      query?: {
        /** @description Most items on the page. The default is the maximum. */
        limit?: components["parameters"]["Limit"];
        /** @description Items to skip. The default is 0. Use `cursor` to go further than the maximum. */
        offset?: components["parameters"]["Offset"];
        /** @description `next` of the previous page. Cannot be combined with `offset`. */
        cursor?: components["parameters"]["Cursor"];
      };
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["HeldNftsPage"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  renameAccount: {
    parameters: Inputs<{
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
      };
    }>;
    requestBody: { content: { "application/json": components["schemas"]["RenameWallet"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Wallet"]>;
      400: components["responses"]["MalformedJson"];
      404: components["responses"]["NotFound"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailedOrUserIdentifierTaken"];
      429: components["responses"]["RateLimited"];
    };
  };
  listWalletHistory: WithoutBody<{
    parameters: Inputs<{
      query?: Paging;
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["HistoryPage"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  listContentsOfContract: WithoutBody<{
    parameters: Inputs<{
      query?: {
        /** @description Most items on the page. The default is the maximum. */
        limit?: components["parameters"]["Limit"];
        /** @description Items to skip. The default is 0. Use `cursor` to go further than the maximum. */
        offset?: components["parameters"]["Offset"];
        /** @description `next` of the previous page. Cannot be combined with `offset`. */
        cursor?: components["parameters"]["Cursor"];
      };
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
        /** @description Address of the contract, in any case. */
        contract_address: components["parameters"]["ContractAddress"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["ContractNftsPage"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailedOrContractNotSupportedOrTooManyContracts"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  listContentsOfToken: WithoutBody<{
    parameters: Inputs<{
      query?: {
        /** @description Most items on the page. The default is the maximum. */
        limit?: components["parameters"]["Limit"];
        /** @description Items to skip. The default is 0. Use `cursor` to go further than the maximum. */
        offset?: components["parameters"]["Offset"];
        /** @description `next` of the previous page. Cannot be combined with `offset`. */
        cursor?: components["parameters"]["Cursor"];
      };
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
        /** @description Address of the contract, in any case. */
        contract_address: components["parameters"]["ContractAddress"];
        /** @description Token id, as decimal digits. */
        token_id: components["parameters"]["TokenId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["ContractNftsPage"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailedOrContractNotSupportedOrTooManyContracts"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  makeAdoptionText: {
    parameters: Inputs<{}>;
    requestBody: { content: { "application/json": components["schemas"]["AdoptionText"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["TypedText"]>;
      400: components["responses"]["MalformedJson"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailedOrContractNotSupported"];
      429: components["responses"]["RateLimited"];
    };
  };
  adoptCollection: {
    parameters: Inputs<{}>;
    requestBody: { content: { "application/json": components["schemas"]["AdoptCollection"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Collection"]>;
      400: components["responses"]["MalformedJson"];
      415: components["responses"]["UnsupportedMediaType"];
      /**
       * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
       *     - `adoption_not_permitted`: The owner of the contract has not permitted it. Let the owner sign the text of `POST /v1/collections/adopt/text`.
       *     - `contract_not_supported`: The contract is neither ERC721 nor ERC1155, or it has no function for this call. Check the address; `errors` says what it lacks.
       *     - `too_many_contracts`: The app follows as many contracts of others as it may. Stop following one with DELETE /v1/contracts/<address>, or ask the operator to raise the limit.
       */
      422: Answer<
        "X-Request-Id",
        ErrorOf<"validation_failed" | "adoption_not_permitted" | "contract_not_supported" | "too_many_contracts">
      >;
      429: components["responses"]["RateLimited"];
    };
  };
  listCollections: WithoutBody<{
    parameters: Inputs<{
      query?: Paging & {
        /** @description Which come first, by their creation. The default is `oldest`. */
        order?: components["parameters"]["Order"];
        /** @description Only those with these addresses: at most 30, separated by commas. Those that the app does not have are left out, and the last ones where they would not fit into an answer: `limit` and `total` then say how many it has. All come on one page, so this cannot be combined with `limit`, `offset`, `cursor`, `order` or `search`. */
        addresses?: components["parameters"]["Addresses"];
        /** @description Only those whose name or symbol begins with this text. Capital letters from A to Z do not count. The first ones come on one page of at most `limit`, and `total` counts these: to find others, send more of the text. Cannot be combined with `offset`, `cursor`, `order` or `addresses`. */
        search?: string;
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["CollectionsPage"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  createCollection: {
    parameters: Inputs<{ header?: Repeatable }>;
    requestBody: { content: { "application/json": components["schemas"]["CreateCollection"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Accepted"]>;
      400: components["responses"]["MalformedJson"];
      409: components["responses"]["IdempotencyKeyReused"];
      410: components["responses"]["AnswerExpired"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  };
  listNfts: WithoutBody<{
    parameters: Inputs<{
      query?: {
        /** @description Most items on the page. The default is the maximum. */
        limit?: components["parameters"]["Limit"];
        /** @description Items to skip. The default is 0. Use `cursor` to go further than the maximum. */
        offset?: components["parameters"]["Offset"];
        /** @description `next` of the previous page. Cannot be combined with `offset`. */
        cursor?: components["parameters"]["Cursor"];
        /** @description Which come first, by their creation. The default is `oldest`. Only without a filter. */
        order?: "newest" | "oldest";
        /** @description Only those whose name begins with this text. Capital letters from A to Z do not count. The first ones come on one page of at most `limit`, and `total` counts these: to find others, send more of the text. Cannot be combined with `offset`, `cursor`, `order` or a filter. */
        search?: string;
        /** @description Only the tokens that this address holds. `total` counts up to 10,000 of them. */
        owner?: string;
        /** @description In place of `owner`: the app's own name for the user. Without a wallet the page is empty. */
        user?: string;
        /** @description Only the tokens with an attribute of this `trait_type`, and of this `trait_value`. `total` counts up to 10,000 of them. */
        trait_type?: string;
        /** @description The `value` of that attribute; a number or a boolean as JSON writes it. Together with `trait_type`. */
        trait_value?: string;
      };
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["NftsPage"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  changeCollection: {
    parameters: Inputs<{
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
      };
    }>;
    requestBody?: { content: { "application/json": components["schemas"]["ChangeCollection"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["ChangedCollection"]>;
      400: components["responses"]["MalformedJson"];
      404: components["responses"]["NotFound"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailedOrWrongHostingOrMetadataFrozen"];
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  };
  freezeCollection: {
    parameters: Inputs<{
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
      };
    }>;
    requestBody?: { content: { "application/json": components["schemas"]["FreezeCollection"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Accepted"]>;
      400: components["responses"]["MalformedJson"];
      404: components["responses"]["NotFound"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailedOrWrongHostingOrMetadataFrozen"];
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  };
  getNft: WithoutBody<{
    parameters: Inputs<{
      query?: {
        /** @description Most items on the page. The default is the maximum. */
        limit?: components["parameters"]["Limit"];
        /** @description Items to skip. The default is 0. Use `cursor` to go further than the maximum. */
        offset?: components["parameters"]["Offset"];
        /** @description `next` of the previous page. Cannot be combined with `offset`. */
        cursor?: components["parameters"]["Cursor"];
      };
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
        /** @description Token id, as decimal digits. */
        token_id: components["parameters"]["TokenId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<
        "X-Request-Id" | "RateLimit" | "RateLimit-Policy",
        components["schemas"]["Erc721Nft"] | components["schemas"]["Erc1155Nft"]
      >;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  changeToken: {
    parameters: Inputs<{
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
        /** @description Token id, as decimal digits. */
        token_id: components["parameters"]["TokenId"];
      };
    }>;
    requestBody?: { content: { "application/json": components["schemas"]["ChangeToken"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["ChangedToken"]>;
      400: components["responses"]["MalformedJson"];
      404: components["responses"]["NotFound"];
      415: components["responses"]["UnsupportedMediaType"];
      /**
       * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
       *     - `wrong_collection_type`: Some fields belong to the other collection type. Remove the fields that `errors` names.
       *     - `wrong_hosting`: The call needs the other kind of hosting (hosted or self-hosted). The message of the answer says which kind the collection has, and what to send instead.
       *     - `metadata_frozen`: The collection's metadata is frozen, or about to be. It can never change, and no new token with metadata can be minted.
       */
      422: Answer<
        "X-Request-Id",
        ErrorOf<"validation_failed" | "wrong_collection_type" | "wrong_hosting" | "metadata_frozen">
      >;
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  };
  listTokenHistory: WithoutBody<{
    parameters: Inputs<{
      query?: Paging;
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
        /** @description Token id, as decimal digits. */
        token_id: components["parameters"]["TokenId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["HistoryPage"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  uploadMedia: {
    parameters: Inputs<{}>;
    /** @description The bytes of the file. `Content-Type` may be the media type of the file instead. */
    requestBody: { content: { "application/octet-stream": string } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["UploadedMedia"]>;
      400: components["responses"]["MalformedRequest"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  };
  mintNft: {
    parameters: Inputs<{ header?: Repeatable }>;
    requestBody: { content: { "application/json": components["schemas"]["Mint"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Accepted"]>;
      400: components["responses"]["MalformedJson"];
      409: components["responses"]["IdempotencyKeyReused"];
      410: components["responses"]["AnswerExpired"];
      415: components["responses"]["UnsupportedMediaType"];
      /**
       * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
       *     - `collection_not_found`: This app has no collection at this address. Check the address, or wait until its request has completed.
       *     - `token_not_found`: The token does not exist. Check the token id, or wait until its mint has completed.
       *     - `token_already_exists`: This ERC1155 token id already exists. Choose another id, or send `quantity` and `to_address` to mint more copies.
       *     - `supply_exceeded`: The mint exceeds the collection's maximum supply, or the most copies that an id can have. Mint fewer.
       *     - `wrong_collection_type`: Some fields belong to the other collection type. Remove the fields that `errors` names.
       *     - `wrong_hosting`: The call needs the other kind of hosting (hosted or self-hosted). The message of the answer says which kind the collection has, and what to send instead.
       *     - `service_cannot_mint`: The service is not a minter of this collection. Only its owner can appoint it.
       *     - `metadata_frozen`: The collection's metadata is frozen, or about to be. It can never change, and no new token with metadata can be minted.
       */
      422: Answer<
        "X-Request-Id",
        ErrorOf<
          | "validation_failed"
          | "collection_not_found"
          | "token_not_found"
          | "token_already_exists"
          | "supply_exceeded"
          | "wrong_collection_type"
          | "wrong_hosting"
          | "service_cannot_mint"
          | "metadata_frozen"
        >
      >;
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  };
  mintNfts: {
    parameters: Inputs<{ header?: Repeatable }>;
    requestBody: {
      content: {
        "application/json": {
          /** @description 1 to 1000 items, each with the body of the single call. */
          items: components["schemas"]["Mint"][];
        };
      };
    };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["BatchResults"]>;
      400: components["responses"]["MalformedJson"];
      409: components["responses"]["IdempotencyKeyReused"];
      410: components["responses"]["AnswerExpired"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  };
  transferNft: {
    parameters: Inputs<{ header?: Repeatable }>;
    requestBody: { content: { "application/json": components["schemas"]["Transfer"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Accepted"]>;
      400: components["responses"]["MalformedJson"];
      409: components["responses"]["IdempotencyKeyReused"];
      410: components["responses"]["AnswerExpired"];
      415: components["responses"]["UnsupportedMediaType"];
      /**
       * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
       *     - `wallet_not_found`: This app has no wallet with this address. Check the address, or create a wallet first.
       *     - `wallet_watch_only`: The wallet is watch-only: its key is not at this service, so the service cannot sign for it. Who has the key can move the token.
       *     - `contract_not_supported`: The contract is neither ERC721 nor ERC1155, or it has no function for this call. Check the address; `errors` says what it lacks.
       *     - `not_supported_by_chain`: The chain does not support what this call needs: without delegation (EIP-7702), wallets cannot move or burn tokens of contracts of others.
       *     - `too_many_contracts`: The app follows as many contracts of others as it may. Stop following one with DELETE /v1/contracts/<address>, or ask the operator to raise the limit.
       *     - `token_not_found`: The token does not exist. Check the token id, or wait until its mint has completed.
       *     - `insufficient_balance`: The wallet does not hold the token, or not enough copies of it. Check what the wallet holds.
       *     - `not_transferable`: The collection is soulbound: its tokens can never be transferred.
       *     - `token_busy`: An earlier transfer or burn of this token is still pending. Try again when that request is final.
       */
      422: Answer<
        "X-Request-Id",
        ErrorOf<
          | "validation_failed"
          | "wallet_not_found"
          | "wallet_watch_only"
          | "contract_not_supported"
          | "not_supported_by_chain"
          | "too_many_contracts"
          | "token_not_found"
          | "insufficient_balance"
          | "not_transferable"
          | "token_busy"
        >
      >;
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  };
  transferNfts: {
    parameters: Inputs<{ header?: Repeatable }>;
    requestBody: {
      content: {
        "application/json": {
          /** @description 1 to 1000 items, each with the body of the single call. */
          items: components["schemas"]["Transfer"][];
        };
      };
    };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["BatchResults"]>;
      400: components["responses"]["MalformedJson"];
      409: components["responses"]["IdempotencyKeyReused"];
      410: components["responses"]["AnswerExpired"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  };
  burnNft: {
    parameters: Inputs<{ header?: Repeatable }>;
    requestBody: { content: { "application/json": components["schemas"]["Burn"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Accepted"]>;
      400: components["responses"]["MalformedJson"];
      409: components["responses"]["IdempotencyKeyReused"];
      410: components["responses"]["AnswerExpired"];
      415: components["responses"]["UnsupportedMediaType"];
      /**
       * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
       *     - `wallet_not_found`: This app has no wallet with this address. Check the address, or create a wallet first.
       *     - `wallet_watch_only`: The wallet is watch-only: its key is not at this service, so the service cannot sign for it. Who has the key can move the token.
       *     - `contract_not_supported`: The contract is neither ERC721 nor ERC1155, or it has no function for this call. Check the address; `errors` says what it lacks.
       *     - `not_supported_by_chain`: The chain does not support what this call needs: without delegation (EIP-7702), wallets cannot move or burn tokens of contracts of others.
       *     - `too_many_contracts`: The app follows as many contracts of others as it may. Stop following one with DELETE /v1/contracts/<address>, or ask the operator to raise the limit.
       *     - `token_not_found`: The token does not exist. Check the token id, or wait until its mint has completed.
       *     - `insufficient_balance`: The wallet does not hold the token, or not enough copies of it. Check what the wallet holds.
       *     - `token_busy`: An earlier transfer or burn of this token is still pending. Try again when that request is final.
       */
      422: Answer<
        "X-Request-Id",
        ErrorOf<
          | "validation_failed"
          | "wallet_not_found"
          | "wallet_watch_only"
          | "contract_not_supported"
          | "not_supported_by_chain"
          | "too_many_contracts"
          | "token_not_found"
          | "insufficient_balance"
          | "token_busy"
        >
      >;
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  };
  burnNfts: {
    parameters: Inputs<{ header?: Repeatable }>;
    requestBody: {
      content: {
        "application/json": {
          /** @description 1 to 1000 items, each with the body of the single call. */
          items: components["schemas"]["Burn"][];
        };
      };
    };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["BatchResults"]>;
      400: components["responses"]["MalformedJson"];
      409: components["responses"]["IdempotencyKeyReused"];
      410: components["responses"]["AnswerExpired"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  };
  checkReceivers: {
    parameters: Inputs<{}>;
    requestBody: { content: { "application/json": components["schemas"]["CheckReceivers"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["CheckedReceivers"]>;
      400: components["responses"]["MalformedJson"];
      404: components["responses"]["NotFound"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  };
  listContracts: WithoutBody<{
    parameters: Inputs<{ query?: Paging }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["ContractsPage"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  deleteContract: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description Address of the wallet or of the contract, in any case. */
        address: components["parameters"]["Address"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["EndedContract"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  listRequests: WithoutBody<{
    parameters: Inputs<{
      query?: Paging & {
        /** @description Only requests with this status. */
        status?: "pending" | "processing" | "completed" | "failed";
        /** @description Only requests of this type. */
        type?: "collection" | "mint" | "transfer" | "burn" | "metadata" | "freeze";
        /** @description Only requests that this transaction carries. In any case. */
        transaction_hash?: string;
        /** @description Only requests with this `reference`. `total` counts up to 10,000 of them; together with other filters, only so many of the newest are searched. */
        reference?: string;
        /** @description Only requests that concern this collection or its tokens. `total` counts up to 10,000 of them; together with other filters, only so many of the newest are searched. */
        collection?: string;
        /** @description Only mints to this address, transfers from it or to it, and burns of its tokens. `total` counts up to 10,000 of them; together with other filters, only so many of the newest are searched. */
        wallet?: string;
        /** @description In place of `wallet`: the app's own name for the user. Without a wallet the page is empty. */
        user?: string;
        /** @description Which come first, by their creation. The default is `newest`. `oldest` only with `status` and `type`, and without other filters. */
        order?: "newest" | "oldest";
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["RequestsPage"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  getRequest: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The `request_id` of an earlier answer. */
        request_id: string;
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Request"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  retryRequest: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The `request_id` of an earlier answer. */
        request_id: string;
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Accepted"]>;
      404: components["responses"]["NotFound"];
      409: components["responses"]["NotRetryable"];
      /**
       * @description - `validation_failed`: Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.
       *     - `wallet_not_found`: This app has no wallet with this address. Check the address, or create a wallet first.
       *     - `wallet_watch_only`: The wallet is watch-only: its key is not at this service, so the service cannot sign for it. Who has the key can move the token.
       *     - `collection_not_found`: This app has no collection at this address. Check the address, or wait until its request has completed.
       *     - `contract_not_supported`: The contract is neither ERC721 nor ERC1155, or it has no function for this call. Check the address; `errors` says what it lacks.
       *     - `not_supported_by_chain`: The chain does not support what this call needs: without delegation (EIP-7702), wallets cannot move or burn tokens of contracts of others.
       *     - `too_many_contracts`: The app follows as many contracts of others as it may. Stop following one with DELETE /v1/contracts/<address>, or ask the operator to raise the limit.
       *     - `token_not_found`: The token does not exist. Check the token id, or wait until its mint has completed.
       *     - `token_already_exists`: This ERC1155 token id already exists. Choose another id, or send `quantity` and `to_address` to mint more copies.
       *     - `insufficient_balance`: The wallet does not hold the token, or not enough copies of it. Check what the wallet holds.
       *     - `supply_exceeded`: The mint exceeds the collection's maximum supply, or the most copies that an id can have. Mint fewer.
       *     - `wrong_hosting`: The call needs the other kind of hosting (hosted or self-hosted). The message of the answer says which kind the collection has, and what to send instead.
       *     - `not_transferable`: The collection is soulbound: its tokens can never be transferred.
       *     - `token_busy`: An earlier transfer or burn of this token is still pending. Try again when that request is final.
       *     - `service_cannot_mint`: The service is not a minter of this collection. Only its owner can appoint it.
       *     - `metadata_frozen`: The collection's metadata is frozen, or about to be. It can never change, and no new token with metadata can be minted.
       */
      422: Answer<
        "X-Request-Id",
        ErrorOf<
          | "validation_failed"
          | "wallet_not_found"
          | "wallet_watch_only"
          | "collection_not_found"
          | "contract_not_supported"
          | "not_supported_by_chain"
          | "too_many_contracts"
          | "token_not_found"
          | "token_already_exists"
          | "insufficient_balance"
          | "supply_exceeded"
          | "wrong_hosting"
          | "not_transferable"
          | "token_busy"
          | "service_cannot_mint"
          | "metadata_frozen"
        >
      >;
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  }>;
  getWebhook: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Webhook"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  putWebhook: {
    parameters: Inputs<{}>;
    requestBody: { content: { "application/json": components["schemas"]["SetWebhook"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["RegisteredWebhook"]>;
      400: components["responses"]["MalformedJson"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailedOrTooManyWebhooks"];
      429: components["responses"]["RateLimited"];
    };
  };
  deleteWebhook: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["RemovedWebhook"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  testWebhook: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Delivery"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  rotateWebhookSecret: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["RotatedSecret"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  listDeliveries: WithoutBody<{
    parameters: Inputs<{ query?: Paging }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["DeliveriesPage"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  redeliverFailed: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["RedeliveredEvents"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  getDelivery: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The `id` of the delivery. */
        id: components["parameters"]["DeliveryId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["DeliveryWithPayload"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  redeliver: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The `id` of the delivery. */
        id: components["parameters"]["DeliveryId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Delivery"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  listWebhooks: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Webhooks"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  createWebhook: {
    parameters: Inputs<{}>;
    requestBody: { content: { "application/json": components["schemas"]["CreateWebhook"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["CreatedWebhook"]>;
      400: components["responses"]["MalformedJson"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailedOrTooManyWebhooks"];
      429: components["responses"]["RateLimited"];
    };
  };
  getOneWebhook: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The `id` of the webhook. */
        id: components["parameters"]["WebhookId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Webhook"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  deleteOneWebhook: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The `id` of the webhook. */
        id: components["parameters"]["WebhookId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["RemovedWebhook"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  changeWebhook: {
    parameters: Inputs<{
      path: {
        /** @description The `id` of the webhook. */
        id: components["parameters"]["WebhookId"];
      };
    }>;
    requestBody: { content: { "application/json": components["schemas"]["ChangeWebhook"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Webhook"]>;
      400: components["responses"]["MalformedJson"];
      404: components["responses"]["NotFound"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  };
  testOneWebhook: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The `id` of the webhook. */
        id: components["parameters"]["WebhookId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Delivery"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  rotateOneSecret: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The `id` of the webhook. */
        id: components["parameters"]["WebhookId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["RotatedSecret"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  listDeliveriesOfOne: WithoutBody<{
    parameters: Inputs<{
      query?: Paging;
      path: {
        /** @description The `id` of the webhook. */
        id: components["parameters"]["WebhookId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["DeliveriesPage"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  redeliverFailedOfOne: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The `id` of the webhook. */
        id: components["parameters"]["WebhookId"];
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["RedeliveredEvents"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  listEvents: WithoutBody<{
    parameters: Inputs<{
      query?: {
        /** @description `next` of an earlier answer, the `id` of an event of the stream, or `start`. Without it the feed starts at the first event, a stream with the next one. */
        after?: string;
        /** @description Most items on the page. The default is the maximum. */
        limit?: components["parameters"]["Limit"];
        /** @description Only events of these types, separated by commas: `sent`, `completed`, `error`, `corrected`, `in_block`, `dropped`, `token.minted`, `token.burned`, `token.sent`, `token.received`, `token.transferred`, `gap`. Without it: `sent`, `completed`, `error`, `corrected`, of requests. A `corrected` of a token event comes with the type of the event that it corrects. */
        types?: string;
      };
      header?: {
        /**
         * @description For streams: the `id` of the last event that you have. The stream continues after it. It wins over `after`.
         * @example ZXZlbnRzLjc
         */
        "Last-Event-ID"?: components["parameters"]["LastEventId"];
      };
    }>;
    responses: AnyCall & {
      200: {
        headers: AnswerHeaders<"X-Request-Id" | "RateLimit" | "RateLimit-Policy">;
        content: { "application/json": components["schemas"]["EventsFeed"]; "text/event-stream": string };
      };
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  exportHolders: WithoutBody<{
    parameters: Inputs<{
      query: {
        /** @description Address of the collection, in any case. */
        collection: string;
      };
    }>;
    responses: AnyCall & {
      200: {
        headers: AnswerHeaders<"X-Request-Id" | "RateLimit" | "RateLimit-Policy" | "Moneta-As-Of-Block">;
        content: { "application/x-ndjson": components["schemas"]["ExportedHolding"]; "text/csv": string };
      };
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  }>;
  exportWallets: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: {
        headers: AnswerHeaders<"X-Request-Id" | "RateLimit" | "RateLimit-Policy" | "Moneta-As-Of-Block">;
        content: { "application/x-ndjson": components["schemas"]["ExportedWallet"]; "text/csv": string };
      };
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  }>;
  getUsage: WithoutBody<{
    parameters: Inputs<{
      query?: {
        /** @description The first day. Default: 29 days before `to`. */
        from?: string;
        /** @description The last day. Default: today. */
        to?: string;
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Usage"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  getSummary: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Summary"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  getConsoleSession: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["ConsoleSession"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  createConsoleSession: {
    parameters: Inputs<{}>;
    requestBody: { content: { "application/json": components["schemas"]["CreateSession"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["ConsoleSession"]>;
      400: components["responses"]["MalformedJson"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  };
  deleteConsoleSession: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["EndedSession"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  listTokens: WithoutBody<{
    parameters: Inputs<{
      query?: {
        /** @description Most items on the page. The default is the maximum. */
        limit?: components["parameters"]["Limit"];
        /** @description `next` of the previous page. */
        cursor?: string;
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["TokensPage"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  createToken: {
    parameters: Inputs<{}>;
    requestBody: { content: { "application/json": components["schemas"]["CreateToken"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["NewToken"]>;
      400: components["responses"]["MalformedJson"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimitedOrQuotaExceeded"];
    };
  };
  deleteToken: WithoutBody<{
    parameters: Inputs<{
      path: {
        /** @description The `token_id` of the token. */
        token_id: string;
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["Token"]>;
      404: components["responses"]["NotFound"];
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  listApps: WithoutBody<{
    parameters: Inputs<{
      query?: {
        /** @description Most items on the page. The default is the maximum. */
        limit?: components["parameters"]["Limit"];
        /** @description `next` of the previous page. */
        cursor?: string;
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["AppsPage"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  createApp: {
    parameters: Inputs<{}>;
    requestBody: { content: { "application/json": components["schemas"]["CreateApp"] } };
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["NewApp"]>;
      400: components["responses"]["MalformedJson"];
      415: components["responses"]["UnsupportedMediaType"];
      422: components["responses"]["ValidationFailedOrAppNameTaken"];
      429: components["responses"]["RateLimited"];
    };
  };
  getOperatorStatus: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["OperatorStatus"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  getDoctorFindings: WithoutBody<{
    parameters: Inputs<{}>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["DoctorReport"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  getOperatorSeries: WithoutBody<{
    parameters: Inputs<{
      query?: {
        /** @description How many hours back. The default is 24. */
        hours?: number | bigint;
      };
    }>;
    responses: AnyCall & {
      200: Answer<"X-Request-Id" | "RateLimit" | "RateLimit-Policy", components["schemas"]["OperatorSeries"]>;
      422: components["responses"]["ValidationFailed"];
      429: components["responses"]["RateLimited"];
    };
  }>;
  getCollectionMetadata: WithoutBody<{
    parameters: Inputs<{
      path: {
        /**
         * @description Id of the service's chain.
         * @example 31337
         */
        chain_id: string;
        /**
         * @description Address of the collection, in any case.
         * @example 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60
         */
        collection: string;
      };
    }>;
    responses: {
      200: Answer<"X-Request-Id" | "ETag" | "Cache-Control", components["schemas"]["CollectionMetadata"]>;
      /** @description Not changed: `If-None-Match` has the current tag. */
      304: { headers: { [name: string]: unknown }; content?: never };
      404: components["responses"]["NotFound"];
      413: components["responses"]["PayloadTooLarge"];
      500: components["responses"]["InternalError"];
      503: components["responses"]["Unavailable"];
    };
  }>;
  getCollectionMetadataOptions: WithoutBody<{
    parameters: Inputs<{
      path: {
        /**
         * @description Id of the service's chain.
         * @example 31337
         */
        chain_id: string;
        /**
         * @description Address of the collection, in any case.
         * @example 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60
         */
        collection: string;
      };
    }>;
    responses: {
      204: { headers: AnswerHeaders<"X-Request-Id">; content?: never };
      404: components["responses"]["NotFound"];
      413: components["responses"]["PayloadTooLarge"];
    };
  }>;
  getTokenMetadata: WithoutBody<{
    parameters: Inputs<{
      path: {
        /**
         * @description Id of the service's chain.
         * @example 31337
         */
        chain_id: string;
        /**
         * @description Address of the collection, in any case.
         * @example 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60
         */
        collection: string;
        /**
         * @description Token id. Exactly 64 digits are read as hexadecimal, anything else as decimal.
         * @example 12
         */
        token_id: string;
      };
    }>;
    responses: {
      200: Answer<"X-Request-Id" | "ETag" | "Cache-Control", components["schemas"]["TokenMetadata"]>;
      /** @description Not changed: `If-None-Match` has the current tag. */
      304: { headers: { [name: string]: unknown }; content?: never };
      404: components["responses"]["NotFound"];
      413: components["responses"]["PayloadTooLarge"];
      500: components["responses"]["InternalError"];
      503: components["responses"]["Unavailable"];
    };
  }>;
  getTokenMetadataOptions: WithoutBody<{
    parameters: Inputs<{
      path: {
        /**
         * @description Id of the service's chain.
         * @example 31337
         */
        chain_id: string;
        /**
         * @description Address of the collection, in any case.
         * @example 0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60
         */
        collection: string;
        /**
         * @description Token id. Exactly 64 digits are read as hexadecimal, anything else as decimal.
         * @example 12
         */
        token_id: string;
      };
    }>;
    responses: {
      204: { headers: AnswerHeaders<"X-Request-Id">; content?: never };
      404: components["responses"]["NotFound"];
      413: components["responses"]["PayloadTooLarge"];
    };
  }>;
  getContent: WithoutBody<{
    parameters: Inputs<{
      path: {
        /**
         * @description Content identifier.
         * @example bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy
         */
        cid: string;
      };
    }>;
    responses: {
      /** @description The whole content. */
      200: {
        headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control" | "Accept-Ranges">;
        content: { "application/octet-stream": string; "*/*": string };
      };
      /** @description The bytes in `Range`. */
      206: {
        headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control" | "Accept-Ranges" | "Content-Range">;
        content: { "application/octet-stream": string; "*/*": string };
      };
      /** @description Not changed: `If-None-Match` has the current tag. */
      304: { headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control">; content?: never };
      404: components["responses"]["NotFound"];
      413: components["responses"]["PayloadTooLarge"];
      416: components["responses"]["RangeNotSatisfiable"];
      500: components["responses"]["InternalError"];
      503: components["responses"]["Unavailable"];
    };
  }>;
  getContentOptions: WithoutBody<{
    parameters: Inputs<{
      path: {
        /**
         * @description Content identifier.
         * @example bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy
         */
        cid: string;
      };
    }>;
    responses: {
      204: { headers: AnswerHeaders<"X-Request-Id">; content?: never };
      404: components["responses"]["NotFound"];
      413: components["responses"]["PayloadTooLarge"];
    };
  }>;
  headContent: WithoutBody<{
    parameters: Inputs<{
      path: {
        /**
         * @description Content identifier.
         * @example bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy
         */
        cid: string;
      };
    }>;
    responses: {
      /** @description The headers of the same GET. */
      200: { headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control" | "Accept-Ranges">; content?: never };
      /** @description The headers of the same GET with `Range`. */
      206: {
        headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control" | "Accept-Ranges" | "Content-Range">;
        content?: never;
      };
      /** @description Not changed: `If-None-Match` has the current tag. */
      304: { headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control">; content?: never };
      404: components["responses"]["NotFound"];
      413: components["responses"]["PayloadTooLarge"];
      416: components["responses"]["RangeNotSatisfiable"];
      500: components["responses"]["InternalError"];
      503: components["responses"]["Unavailable"];
    };
  }>;
  getContentAt: WithoutBody<{
    parameters: Inputs<{
      path: {
        /**
         * @description Content identifier.
         * @example bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy
         */
        cid: string;
        /**
         * @description Path of the file in the directory, **slashes included**, such as `images/cat.png`. OpenAPI 3.1 cannot describe such a parameter, so generated clients may escape the slashes as `%2F`: the service accepts both.
         * @example collection.json
         */
        path: string;
      };
    }>;
    responses: {
      /** @description The whole content. */
      200: {
        headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control" | "Accept-Ranges">;
        content: { "application/octet-stream": string; "*/*": string };
      };
      /** @description The bytes in `Range`. */
      206: {
        headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control" | "Accept-Ranges" | "Content-Range">;
        content: { "application/octet-stream": string; "*/*": string };
      };
      /** @description Not changed: `If-None-Match` has the current tag. */
      304: { headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control">; content?: never };
      404: components["responses"]["NotFound"];
      413: components["responses"]["PayloadTooLarge"];
      416: components["responses"]["RangeNotSatisfiable"];
      500: components["responses"]["InternalError"];
      503: components["responses"]["Unavailable"];
    };
  }>;
  getContentAtOptions: WithoutBody<{
    parameters: Inputs<{
      path: {
        /**
         * @description Content identifier.
         * @example bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy
         */
        cid: string;
        /**
         * @description Path of the file in the directory, **slashes included**, such as `images/cat.png`. OpenAPI 3.1 cannot describe such a parameter, so generated clients may escape the slashes as `%2F`: the service accepts both.
         * @example collection.json
         */
        path: string;
      };
    }>;
    responses: {
      204: { headers: AnswerHeaders<"X-Request-Id">; content?: never };
      404: components["responses"]["NotFound"];
      413: components["responses"]["PayloadTooLarge"];
    };
  }>;
  headContentAt: WithoutBody<{
    parameters: Inputs<{
      path: {
        /**
         * @description Content identifier.
         * @example bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy
         */
        cid: string;
        /**
         * @description Path of the file in the directory, **slashes included**, such as `images/cat.png`. OpenAPI 3.1 cannot describe such a parameter, so generated clients may escape the slashes as `%2F`: the service accepts both.
         * @example collection.json
         */
        path: string;
      };
    }>;
    responses: {
      /** @description The headers of the same GET. */
      200: { headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control" | "Accept-Ranges">; content?: never };
      /** @description The headers of the same GET with `Range`. */
      206: {
        headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control" | "Accept-Ranges" | "Content-Range">;
        content?: never;
      };
      /** @description Not changed: `If-None-Match` has the current tag. */
      304: { headers: AnswerHeaders<"X-Request-Id" | "ETag" | "Cache-Control">; content?: never };
      404: components["responses"]["NotFound"];
      413: components["responses"]["PayloadTooLarge"];
      416: components["responses"]["RangeNotSatisfiable"];
      500: components["responses"]["InternalError"];
      503: components["responses"]["Unavailable"];
    };
  }>;
  getHome: WithoutBody<{
    parameters: Inputs<{}>;
    responses: {
      200: {
        headers: AnswerHeaders<"X-Request-Id">;
        content: {
          "application/json": {
            /** @description Name of the service. */
            name: string;
            /** @description Version of the service. */
            version: string;
            /** @description URLs by what they lead to. */
            links: { [key: string]: string };
          };
          "text/html": string;
        };
      };
      413: components["responses"]["PayloadTooLarge"];
      500: components["responses"]["InternalError"];
    };
  }>;
  getHealth: WithoutBody<{
    parameters: Inputs<{}>;
    responses: {
      200: Answer<
        "X-Request-Id",
        {
          /** @description The process answers. */
          status: "ok";
        }
      >;
      413: components["responses"]["PayloadTooLarge"];
      500: components["responses"]["InternalError"];
    };
  }>;
  getReadiness: WithoutBody<{
    parameters: Inputs<{}>;
    responses: {
      200: Answer<
        "X-Request-Id",
        {
          /** @description The process serves calls. A worker or lane that cannot work now does not change that. */
          status: "ready";
          /** @description The result of each check. `ok`: It works. `unavailable`: It does not answer. `rate_limited`: The node works, but its provider limits the rate of calls. `wrong_chain`: The node serves another chain than the one that the database belongs to. `node_down`: One of several nodes cannot be used. The others do its work. `parked`: The work on a row always fails. The row is parked, and all others are worked on. `failing`: This worker or lane cannot work now. It retries, and requests wait. */
          checks: {
            [key: string]: "ok" | "unavailable" | "rate_limited" | "wrong_chain" | "node_down" | "parked" | "failing";
          };
        }
      >;
      413: components["responses"]["PayloadTooLarge"];
      500: components["responses"]["InternalError"];
      503: components["responses"]["Unavailable"];
    };
  }>;
  getDocs: WithoutBody<{
    parameters: Inputs<{}>;
    responses: {
      200: { headers: AnswerHeaders<"X-Request-Id">; content: { "text/html": string } };
      /** @description From the same path with a slash at its end. */
      308: { headers: { [name: string]: unknown }; content?: never };
      413: components["responses"]["PayloadTooLarge"];
      500: components["responses"]["InternalError"];
    };
  }>;
  getDocument: WithoutBody<{
    parameters: Inputs<{}>;
    responses: {
      200: Answer<
        "X-Request-Id",
        {
          /** @description Version of the OpenAPI format. */
          openapi: string;
        } & { [key: string]: unknown }
      >;
      413: components["responses"]["PayloadTooLarge"];
      500: components["responses"]["InternalError"];
    };
  }>;
  getErrorCodes: WithoutBody<{
    parameters: Inputs<{}>;
    responses: {
      200: { headers: AnswerHeaders<"X-Request-Id">; content: { "text/html": string } };
      /** @description From the same path with a slash at its end. */
      308: { headers: { [name: string]: unknown }; content?: never };
      413: components["responses"]["PayloadTooLarge"];
      500: components["responses"]["InternalError"];
    };
  }>;
  receiveEvent: {
    parameters: Inputs<{
      header: {
        /**
         * @description The `id` of the body, the same at every try.
         * @example 0e2f6c0e-8a3f-4d4c-9a55-0d6c1b7f2a10
         */
        "webhook-id": string;
        /**
         * @description Time of sending, in seconds since 1970. Reject old calls.
         * @example 1777889730
         */
        "webhook-timestamp": string;
        /**
         * @description Signatures of `<webhook-id>.<webhook-timestamp>.<body>` (Standard Webhooks): `v1,` and base64 of HMAC-SHA256, separated by spaces while two secrets are live.
         * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
         */
        "webhook-signature": string;
      };
    }>;
    requestBody: { content: { "application/json": components["schemas"]["Event"] } };
    responses: {
      /** @description The receiver wants no more events: the webhook is disabled. */
      410: { headers: { [name: string]: unknown }; content?: never };
      /** @description Delivered. The receiver has 15 seconds to answer. */
      "2XX": { headers: { [name: string]: unknown }; content?: never };
      /** @description The delivery is retried later. Redirects are not followed. */
      default: { headers: { [name: string]: unknown }; content?: never };
    };
  };
  receiveTokenEvent: {
    parameters: Inputs<{
      header: {
        /**
         * @description The `id` of the body, the same at every try.
         * @example 0e2f6c0e-8a3f-4d4c-9a55-0d6c1b7f2a10
         */
        "webhook-id": string;
        /**
         * @description Time of sending, in seconds since 1970. Reject old calls.
         * @example 1777889730
         */
        "webhook-timestamp": string;
        /**
         * @description Signatures of `<webhook-id>.<webhook-timestamp>.<body>` (Standard Webhooks): `v1,` and base64 of HMAC-SHA256, separated by spaces while two secrets are live.
         * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
         */
        "webhook-signature": string;
      };
    }>;
    requestBody: {
      content: { "application/json": components["schemas"]["TokenEvent"] | components["schemas"]["TokenCorrection"] };
    };
    responses: {
      /** @description The receiver wants no more events: the webhook is disabled. */
      410: { headers: { [name: string]: unknown }; content?: never };
      /** @description Delivered. The receiver has 15 seconds to answer. */
      "2XX": { headers: { [name: string]: unknown }; content?: never };
      /** @description The delivery is retried later. Redirects are not followed. */
      default: { headers: { [name: string]: unknown }; content?: never };
    };
  };
  receiveGap: {
    parameters: Inputs<{
      header: {
        /**
         * @description The `id` of the body, the same at every try.
         * @example 0e2f6c0e-8a3f-4d4c-9a55-0d6c1b7f2a10
         */
        "webhook-id": string;
        /**
         * @description Time of sending, in seconds since 1970. Reject old calls.
         * @example 1777889730
         */
        "webhook-timestamp": string;
        /**
         * @description Signatures of `<webhook-id>.<webhook-timestamp>.<body>` (Standard Webhooks): `v1,` and base64 of HMAC-SHA256, separated by spaces while two secrets are live.
         * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
         */
        "webhook-signature": string;
      };
    }>;
    requestBody: { content: { "application/json": components["schemas"]["GapEvent"] } };
    responses: {
      /** @description The receiver wants no more events: the webhook is disabled. */
      410: { headers: { [name: string]: unknown }; content?: never };
      /** @description Delivered. The receiver has 15 seconds to answer. */
      "2XX": { headers: { [name: string]: unknown }; content?: never };
      /** @description The delivery is retried later. Redirects are not followed. */
      default: { headers: { [name: string]: unknown }; content?: never };
    };
  };
  receiveTest: {
    parameters: Inputs<{
      header: {
        /**
         * @description The `id` of the body, the same at every try.
         * @example 0e2f6c0e-8a3f-4d4c-9a55-0d6c1b7f2a10
         */
        "webhook-id": string;
        /**
         * @description Time of sending, in seconds since 1970. Reject old calls.
         * @example 1777889730
         */
        "webhook-timestamp": string;
        /**
         * @description Signatures of `<webhook-id>.<webhook-timestamp>.<body>` (Standard Webhooks): `v1,` and base64 of HMAC-SHA256, separated by spaces while two secrets are live.
         * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
         */
        "webhook-signature": string;
      };
    }>;
    requestBody: { content: { "application/json": components["schemas"]["TestEvent"] } };
    responses: {
      /** @description The receiver wants no more events: the webhook is disabled. */
      410: { headers: { [name: string]: unknown }; content?: never };
      /** @description Delivered. The receiver has 15 seconds to answer. */
      "2XX": { headers: { [name: string]: unknown }; content?: never };
      /** @description The delivery is retried later. Redirects are not followed. */
      default: { headers: { [name: string]: unknown }; content?: never };
    };
  };
}

/** Calls that take an `Idempotency-Key`. */
export const IDEMPOTENT_CALLS: readonly string[] = [
  "POST /v1/accounts",
  "POST /v1/collections",
  "POST /v1/nfts",
  "POST /v1/nfts/batch",
  "POST /v1/transfers",
  "POST /v1/transfers/batch",
  "POST /v1/burns",
  "POST /v1/burns/batch",
];
