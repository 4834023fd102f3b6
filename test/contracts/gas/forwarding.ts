import { Signature, type BaseWallet } from "ethers";

import type { Bench } from "./bench.ts";

/** Gas of the same gasless transfers through OpenZeppelin's ERC-2771 forwarder. */
export async function measureForwarding(bench: Bench) {
  const forwarder = await bench.ethers.deployContract("YardstickForwarder");
  const verifyingContract = await forwarder.getAddress();
  const token = await bench.ethers.deployContract("YardstickForwardedERC721", [verifyingContract]);
  const to = await token.getAddress();
  const domain = { name: "Forwarder", version: "1", chainId: 31337n, verifyingContract };
  const types = {
    ForwardRequest: [
      { name: "from", type: "address" },
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
      { name: "gas", type: "uint256" },
      { name: "nonce", type: "uint256" },
      { name: "deadline", type: "uint48" },
      { name: "data", type: "bytes" },
    ],
  };
  const request = async (from: BaseWallet, id: bigint) => {
    await token.mint(from.address, id);
    const transfer = "safeTransferFrom(address,address,uint256)";
    const data = token.interface.encodeFunctionData(transfer, [from.address, bench.wallet().address, id]);
    const message = { from: from.address, to, value: 0n, gas: 1_000_000n, deadline: 4_000_000_000n, data };
    const signature = await from.signTypedData(domain, types, { ...message, nonce: 0n });
    return { ...message, signature: Signature.from(signature).serialized };
  };
  const single = await bench.transaction(forwarder.execute(await request(bench.wallet(), 1n)));
  const requests = [];
  for (let index = 0n; index < 100n; index++) requests.push(await request(bench.wallet(), index + 2n));
  const whole = await bench.transaction(
    forwarder.executeBatch(requests, bench.operator.address, { gasLimit: bench.batchGas }),
  );
  return { single, batch: Math.round(whole / 100) };
}
