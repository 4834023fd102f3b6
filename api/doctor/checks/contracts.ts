import { abi, type ContractAddresses } from "../../chain/contracts.ts";
import { type Check, type Finding, ok, problem, warning } from "../check.ts";

/** The service's contracts are there, belong together, and point at this service. */
export const contracts: Check = {
  name: "contracts",
  asksChain: true,
  run: async ({ client, chain, hostedBase }) => {
    const known = chain.contracts;
    const names = ["relay", "factory", "delegate"] as const;
    const codes = await client.code(names.map((name) => known[name]));
    const missing = names.filter((_, index) => (codes[index] ?? "0x") === "0x");
    if (missing.length > 0) {
      const words = missing.map((name) => `${name} ${known[name]}`).join(", ");
      return [problem(`There is no code at: ${words}. Is RPC_URL the right node, and is it in sync?`)];
    }
    const answers = await client.tryCalls([
      { to: known.factory, data: abi.factory.encodeFunctionData("relay") },
      { to: known.delegate, data: abi.delegate.encodeFunctionData("relay") },
      { to: known.factory, data: abi.factory.encodeFunctionData("hostedBaseURI") },
    ]);
    const [factoryRelay, delegateRelay, base] = answers;
    return [
      ...relayOf("factory", factoryRelay, known),
      ...relayOf("delegate", delegateRelay, known),
      ...baseOf(base, hostedBase),
    ];
  },
};

function relayOf(name: "factory" | "delegate", answer: string | null | undefined, known: ContractAddresses): Finding[] {
  const relay = answer == null || answer.length !== 66 ? null : BigInt(answer);
  if (relay === BigInt(known.relay)) return [ok(`the ${name} ${known[name]} obeys the relay ${known.relay}`)];
  return [
    problem(
      `The ${name} ${known[name]} does not obey the relay ${known.relay}: these contracts do not belong together. ` +
        `Bring the deployment file that belongs to this database.`,
    ),
  ];
}

function baseOf(answer: string | null | undefined, expected: string): Finding[] {
  if (answer == null) return [problem("The factory does not tell its hosted base.")];
  const [base] = abi.factory.decodeFunctionResult("hostedBaseURI", answer) as unknown as [string];
  if (base === expected) return [ok(`hosted metadata is at ${base}`)];
  return [
    warning(
      `Hosted tokens point at ${base}, but PUBLIC_URL makes it ${expected}. Set PUBLIC_URL right, or let the relay's ` +
        `owner call setHostedBaseURI on the factory.`,
    ),
  ];
}
