/*
 * A token for a user who has no wallet makes that wallet. Somebody who writes an address in the place of a user would so send
 * tokens to a new wallet that nobody looks for. The service, `drop` and the console all ask here first.
 */

/** What a name seems to be, in place of a user of the app. Without an address: it has a fault that is not repaired here. */
type Mistake = { is: "address"; address: string | null } | { is: "ens" };

/** Also twice with `0x`, and as contracts and logs have it: filled up to 32 bytes. */
const ADDRESS = /^(?:(?:[0o]?x)*(?:0{24})?|xdc)([0-9a-f]{40})$/i;
/**
 * After `0x`, a digit too many or too few, letters in place of digits, or only the beginning and the end. Or an address in the
 * form of ICAP (`XE`) or ICAN (`CB`).
 */
const DAMAGED =
  /^(?:[0o]x(?:[\p{L}\p{N}]{38,42}|[0-9a-f]{2,}\.{2,}[0-9a-f]{2,})|xe[0-9]{2}[0-9a-z]{30,31}|cb[0-9]{2}[0-9a-f]{40})$/iu;
/** Chains before an address, as in EIP-3770, CAIP-10 and EIP-681: `eth:`, `eip155:1:`, `ethereum:pay-`. Or a page of an explorer. */
const CHAINS = /^(?:https?:.*\/|(?:[a-z0-9._-]+:)*(?:pay-)?)(?=[0-9a-fx])/i;
/** `@1/transfer?value=1`, as in EIP-681. */
const CHAIN_AFTER = /(?:@(?:0x)?[0-9a-f]+)?(?:\/[a-z]*)?(?:[?#].*)?$/i;
/** White space, control characters, and what is not visible. */
const UNSEEN = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Quotes, brackets and other signs around a name. */
const AROUND = /^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu;
/** Letters of Greek and Cyrillic, and a sign, each before the letter of addresses and of `.eth` that it looks like. */
const ALIKE = "аaαaвbсcеeεeхxχx×x";

/** @returns what the name is, or becomes after usual slips are repaired; null: nothing but a name */
export function mistakenName(name: string): Mistake | null {
  const plain = name
    .normalize("NFKC")
    .replace(UNSEEN, "")
    .replaceAll("。", ".")
    .replace(/[аαвсеεхχ×]/giu, (letter) => ALIKE[ALIKE.indexOf(letter.toLowerCase()) + 1] ?? "")
    .replace(AROUND, "");
  if (/\.eth$/i.test(plain)) return { is: "ens" };
  const forms = [plain, plain.replace(CHAIN_AFTER, "").replace(CHAINS, "")];
  for (const text of forms) {
    const digits = ADDRESS.exec(text)?.[1];
    if (digits !== undefined) return { is: "address", address: `0x${digits}` };
  }
  return forms.some((text) => DAMAGED.test(text)) ? { is: "address", address: null } : null;
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
  if (mistake.is === "ens")
    return `No user has this name, and it looks like an ENS name. ENS names are not resolved: look up the address, and send it ${instead}. ${otherwise}`;
  const right = mistake.address ?? "the address (0x and 40 hex digits)";
  return `No user has this name, and it looks like an address. Send ${right} ${instead}. ${otherwise}`;
}
