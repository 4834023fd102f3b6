/*
 * A token for a user who has no wallet makes that wallet. Somebody who writes an address in the place of a user would so send
 * tokens to a new wallet that nobody looks for. The service, `drop` and the console all ask here first.
 */

/** What a name seems to be, in place of a user of the app. */
type Mistake = { is: "address"; address: string } | { is: "ens" };

const ADDRESS = /^(?:[0o]?x|xdc)?([0-9a-f]{40})$/i;
/** Chains before an address, as in EIP-3770, CAIP-10 and EIP-681: `eth:`, `eip155:1:`, `ethereum:pay-`. */
const CHAINS = /^(?:[a-z0-9._-]+:)*(?:pay-)?(?=[0-9a-fx])/i;
const CHAIN_AFTER = /@(?:0x)?[0-9a-f]+$/i;
/** White space, control characters, and what is not visible. */
const UNSEEN = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Quotes, brackets and punctuation around a name. */
const AROUND = /^[\p{P}\p{Sk}<>=]+|[\p{P}\p{Sk}<>=]+$/gu;

/** @returns what the name is, or becomes after usual slips are repaired; null: nothing but a name */
export function mistakenName(name: string): Mistake | null {
  const plain = name.normalize("NFKC").replace(UNSEEN, "").replaceAll("。", ".").replace(AROUND, "");
  if (/\.eth$/i.test(plain)) return { is: "ens" };
  for (const text of [plain, plain.replace(CHAIN_AFTER, "").replace(CHAINS, "")]) {
    const digits = ADDRESS.exec(text)?.[1];
    if (digits !== undefined) return { is: "address", address: `0x${digits}` };
  }
  return null;
}

/**
 * Why no wallet is made for a user of this name without being asked for.
 * @param instead where addresses are given, such as "in `to_address`"
 * @returns null when a wallet may be made
 */
export function refusalOfNewUser(name: string, instead: string): string | null {
  const mistake = mistakenName(name);
  if (mistake === null) return null;
  const otherwise = "If it is the identifier of a user, create the user first with POST /v1/accounts.";
  return mistake.is === "ens"
    ? `No user has this name, and it looks like an ENS name. ENS names are not resolved: look up the address, and send it ${instead}. ${otherwise}`
    : `No user has this name, and it looks like an address. Send ${mistake.address} ${instead}. ${otherwise}`;
}
