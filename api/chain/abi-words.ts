// ABI encoding by hand for the few calls that are made for every request. The encoder of ethers is general and takes over
// 0.1 ms per call. Tests compare every result with it. Everything here is hex without 0x.

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/;

/** A number of at most `bits` bits, as one word. @throws RangeError when it does not fit. */
export function uintWord(value: bigint, bits = 256): string {
  if (value < 0n || value >> BigInt(bits) !== 0n)
    throw new RangeError(`${value.toString()} is not a number of ${bits.toString()} bits (uint${bits.toString()})`);
  return value.toString(16).padStart(64, "0");
}

/** @throws TypeError when it is not an address. */
export function addressWord(address: string): string {
  if (!ADDRESS.test(address)) throw new TypeError(`${JSON.stringify(address)} is not an address`);
  return address.slice(2).toLowerCase().padStart(64, "0");
}

/** The digits of bytes in hex. @throws TypeError when they are not bytes. */
export function hexDigits(bytes: string): string {
  if (!BYTES.test(bytes)) throw new TypeError(`${JSON.stringify(bytes)} is not bytes in hex`);
  return bytes.slice(2).toLowerCase();
}

/** A value of type `bytes`: its length, then its content in whole words. */
export function bytesWords(bytes: string): string {
  const digits = hexDigits(bytes);
  return uintWord(BigInt(digits.length / 2)) + digits.padEnd(Math.ceil(digits.length / 64) * 64, "0");
}

/** A call whose arguments are whole words. @param selector the first 4 bytes of the calldata, with 0x. */
export function wordCall(selector: string, ...words: readonly string[]): string {
  return selector + words.join("");
}
