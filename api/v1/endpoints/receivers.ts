import { z } from "zod";

import { checkReceivers as check, type NamedReceiver, RECEIVER_KINDS } from "../../commands/check-receivers.ts";
import { MAX_CHECKED_RECEIVERS, MAX_USER_IDENTIFIER_LENGTH } from "../../config/limits.ts";
import { defineEndpoint } from "../endpoint.ts";
import { ALICE, BOB, COLLECTION } from "../examples.ts";
import { address as anyAddress, destination, optional, refuse, userIdentifier } from "../schemas/inputs.ts";
import { address } from "../schemas/outputs.ts";

const ADDRESS_LENGTH = 42;
const DELEGATE = "0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B";

const receiver = z
  .object({
    kind: z
      .enum(RECEIVER_KINDS)
      .describe(
        "- `wallet`: a wallet of the app.\n- `new_user`: a user without a wallet. The service creates the wallet with the token.\n- `account`: an account without code.\n- `contract`: a contract.\n- `delegated_account`: an account that runs the code of a delegate (EIP-7702).\n- `refused`: the service sends nothing there. `message` says why.\n- `unknown`: the node could not tell.\nFurther words may come.",
      ),
    address: address.nullable().describe("null for a new user, and for a name that is refused."),
    user_identifier: z.string().nullable().describe("The app's name for the user. null when there is none."),
    delegate: address.nullable().describe("The contract whose code the account runs. null: none."),
    accepts: z
      .boolean()
      .nullable()
      .describe("Whether a token can arrive. null: nothing is known, so do not read it as true."),
    message: z
      .string()
      .nullable()
      .describe("Why the token cannot arrive, or why nothing is known. null when `accepts` is true."),
  })
  .meta({ id: "CheckedReceiver" });

const checkedReceivers = z
  .object({ receivers: z.array(receiver).describe("One for each entry, in the order of the entries.") })
  .meta({ id: "CheckedReceivers" });

/** Entries are validated one by one, because a wrong one must not refuse the others. */
function entries(maxLength: number, what: string) {
  return optional(z.array(z.string().meta({ maxLength })).min(1).max(MAX_CHECKED_RECEIVERS)).describe(
    `1 to ${MAX_CHECKED_RECEIVERS.toString()} ${what}`,
  );
}

const checkBody = z
  .strictObject({
    contract_address: anyAddress.describe("A collection of the app, or a contract of others that the app follows."),
    addresses: entries(ADDRESS_LENGTH, "addresses. Send these or `users`, not both."),
    users: entries(MAX_USER_IDENTIFIER_LENGTH, "of the app's own names for users, as in `to_user`."),
  })
  .check((context) => {
    const { addresses, users } = context.value;
    if ((addresses === undefined) !== (users === undefined)) return;
    const [code, message] =
      addresses === undefined
        ? ["required", "Send addresses, or users for users of the app."]
        : ["conflict", "Send either addresses or users, not both."];
    for (const field of ["addresses", "users"]) refuse(context, code, message, [field]);
  })
  .meta({ id: "CheckReceivers" });

const nothing = { user_identifier: null, delegate: null, message: null };

export const checkReceivers = defineEndpoint({
  method: "post",
  path: "/receivers/check",
  summary: "Check who would get tokens, and whether the tokens can arrive",
  name: "checkReceivers",
  description:
    "Says what each receiver is, and whether it accepts a token of the contract: the node runs the receiver's code as a mint would. Nothing is created or sent. A receiver can change its mind, so a mint is simulated again before it is sent. A name that `to_user` refuses is reported in its place.\n\nEach entry counts as an item of a batch for the rate limit (the policy `items` in the headers). An app has one check at a time; further calls wait.",
  examples: {
    bodies: {
      Addresses: { contract_address: COLLECTION, addresses: [ALICE, BOB] },
      Users: { contract_address: COLLECTION, users: ["alice", "bob"] },
    },
    answer: {
      receivers: [
        { kind: "wallet", address: ALICE, accepts: true, ...nothing, user_identifier: "alice" },
        {
          kind: "delegated_account",
          address: BOB,
          user_identifier: null,
          delegate: DELEGATE,
          accepts: false,
          message: `The account runs the code of its delegate ${DELEGATE} (EIP-7702), which does not accept ERC721 tokens. There is no \`onERC721Received\`: the code answers nothing.`,
        },
      ],
    },
  },
  scope: "read",
  body: checkBody,
  response: checkedReceivers,
  runsForeignCode: true,
  errors: ["not_found"],
  handle: async (deps, { appId, body: { contract_address: contract, addresses, users } }, { response }) => {
    const named = [
      ...(addresses ?? []).map((text) => parsed(destination.safeParse(text), (value) => ({ address: value }))),
      ...(users ?? []).map((text) => parsed(userIdentifier.safeParse(text), (value) => ({ user: value }))),
    ];
    await deps.rates.countItems(appId, named.length, response);
    const receivers = await check(deps, appId, contract, named);
    return {
      receivers: receivers.map(({ user: user_identifier, ...one }) => ({ ...one, user_identifier })),
    };
  },
});

function parsed(result: z.ZodSafeParseResult<string>, named: (value: string) => NamedReceiver): NamedReceiver {
  return result.success ? named(result.data) : { refused: result.error.issues[0]?.message ?? "" };
}
