import { concat, getAddress, ZeroAddress } from "ethers";

type Refused = readonly [what: string, packed: string, error: string, values: unknown[]];

/** Arguments that cannot work, or that are a second encoding of a collection. */
export function refusedArguments(kind: "ERC721" | "ERC1155"): Refused[] {
  const account = `0x${"a1".repeat(20)}`;
  const royalty = (basisPoints: string, recipient: string) => concat(["0x05", basisPoints, recipient, "0x00000000"]);
  const cap = (value: string) => concat(["0x09", value, "0x00000000"]);
  const common: Refused[] = [
    [
      "a royalty above the price",
      royalty("0x2711", account),
      "CloneArgumentsInvalidRoyalty",
      [getAddress(account), 10_001n],
    ],
    ["a royalty of zero", royalty("0x0000", account), "CloneArgumentsInvalidRoyalty", [getAddress(account), 0n]],
    ["a royalty to nobody", royalty("0x0001", ZeroAddress), "CloneArgumentsInvalidRoyalty", [ZeroAddress, 1n]],
    ["an owner that is nobody", concat(["0x03", ZeroAddress, "0x00000000"]), "CloneArgumentsInvalidOwner", []],
    ["an unknown flag", "0x2100000000", "CloneArgumentsInvalidFlags", [33n]],
    ["the highest flag", "0x8100000000", "CloneArgumentsInvalidFlags", [129n]],
    ["a byte too many of a hosted collection", "0x010000000000", "CloneArgumentsTrailingBytes", [6n, 5n]],
  ];
  if (kind === "ERC1155") {
    return [...common, ["a maximum supply", cap("0x0000000000000003"), "CloneArgumentsInvalidFlags", [9n]]];
  }
  return [
    ...common,
    ["a maximum supply of zero", cap("0x0000000000000000"), "CloneArgumentsInvalidMaxSupply", [0n]],
    ["a maximum supply that means none", cap("0xffffffffffffffff"), "CloneArgumentsInvalidMaxSupply", [2n ** 64n - 1n]],
  ];
}
