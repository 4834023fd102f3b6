import { expect } from "chai";
import {
  type Authorization,
  getAddress,
  hashAuthorization,
  hexlify,
  SigningKey,
  toBeHex,
  Transaction,
  TypedDataEncoder,
  ZeroAddress,
} from "ethers";
import fc from "fast-check";

import { abi } from "../../../api/chain/abi.ts";
import {
  BURN_AUTHORIZATION_TYPES,
  burnAuthorizationDigest,
  encodeBatch,
  encodeServiceCall,
  encodeWalletCall,
  EXECUTION_TYPES,
  executionDigest,
  monetaDomain,
  TRANSFER_AUTHORIZATION_TYPES,
} from "../../../api/chain/codec/encode.ts";
import { type OwnTransaction, signTransaction } from "../../../api/chain/transaction.ts";
import { MAX_TRANSACTION_GAS } from "../../../api/domain/gas-estimate.ts";

const CONTRACTS = {
  relay: ZeroAddress,
  factories: [{ storage: "compact", signedBurns: true, address: ZeroAddress }],
  delegate: ZeroAddress,
  deployedAt: 0,
} as const;
const MAX = 2n ** 256n - 1n;
const TARGET = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";

const uints = fc.oneof(fc.bigInt({ min: 0n, max: MAX }), fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n, MAX));
const addresses = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => getAddress(hexlify(bytes)));
/** Also lengths around a word, and around the lengths at which RLP changes its prefix. */
const data = fc
  .oneof(fc.uint8Array({ maxLength: 80 }), fc.constantFrom(0, 1, 31, 32, 33, 55, 56, 255, 256, 66_000).map(filled))
  .map((bytes) => hexlify(bytes));
const keys = fc.bigInt({ min: 1n, max: 2n ** 255n }).map((value) => new SigningKey(toBeHex(value, 32)));
const calls = fc.record({
  number: uints,
  target: addresses,
  gasLimit: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  data,
});

function filled(length: number): Uint8Array {
  return new Uint8Array(length).fill(0x7f);
}

describe("encoding by hand", () => {
  describe("encodeBatch", () => {
    it("encodes the call that ethers encodes", () => {
      fc.assert(
        fc.property(fc.array(calls, { maxLength: 8 }), (batch) => {
          expect(encodeBatch(batch)).to.equal(abi.relay.encodeFunctionData("execute", [batch]));
        }),
      );
    });

    it("rejects values that do not fit their type", () => {
      const call = { number: 1n, target: TARGET, gasLimit: 1, data: "0x" };
      expect(() => encodeBatch([{ ...call, gasLimit: 2 ** 32 }])).to.throw(RangeError, "uint32");
      expect(() => encodeBatch([{ ...call, gasLimit: -1 }])).to.throw(RangeError, "uint32");
      expect(() => encodeBatch([{ ...call, number: MAX + 1n }])).to.throw(RangeError, "uint256");
      for (const target of ["0x12", TARGET.slice(2), `${TARGET}00`, "name.eth"])
        expect(() => encodeBatch([{ ...call, target }])).to.throw(TypeError, "is not an address");
      for (const bytes of ["0x1", "12", "0xzz"])
        expect(() => encodeBatch([{ ...call, data: bytes }])).to.throw(TypeError, "is not bytes in hex");
    });
  });

  describe("encodeServiceCall", () => {
    const collection = TARGET;

    it("encodes the mints that ethers encodes", () => {
      fc.assert(
        fc.property(addresses, uints, uints, (to, id, count) => {
          const erc721 = { kind: "mint-erc721", collection, to, metadata: null } as const;
          expect(encodeServiceCall(erc721, CONTRACTS, false).data).to.equal(
            abi.erc721.encodeFunctionData("mint", [to]),
          );
          expect(encodeServiceCall(erc721, CONTRACTS, true).data).to.equal(
            abi.erc721.encodeFunctionData("mintToWallet", [to]),
          );
          const [tokenId, quantity] = [id.toString(), count.toString()];
          const erc1155 = { kind: "mint-erc1155", collection, to, tokenId, quantity } as const;
          expect(encodeServiceCall(erc1155, CONTRACTS).data).to.equal(
            abi.erc1155.encodeFunctionData("mint", [to, id, count]),
          );
        }),
      );
    });
  });

  describe("encodeWalletCall", () => {
    const transfers = fc.record({ from: addresses, to: addresses, tokenId: uints, amount: uints, number: uints });

    it("encodes and signs the calls that ethers encodes and signs", () => {
      fc.assert(
        fc.property(keys, uints, addresses, transfers, (key, chainId, contract, transfer) => {
          const { from, to, tokenId, amount, number } = transfer;
          const digest = TypedDataEncoder.hash(monetaDomain(chainId, contract), TRANSFER_AUTHORIZATION_TYPES, transfer);
          const { r, yParityAndS } = key.sign(digest);
          const command = {
            kind: "transfer",
            contract,
            from,
            to,
            tokenId: tokenId.toString(),
            quantity: amount.toString(),
            foreign: false,
          } as const;
          const site = { chainId, contracts: CONTRACTS, number };
          expect(encodeWalletCall({ ...command, contractType: "ERC721" }, key, site).data).to.equal(
            abi.erc721.encodeFunctionData("transferWithAuthorization", [from, to, tokenId, r, yParityAndS]),
          );
          expect(encodeWalletCall({ ...command, contractType: "ERC1155" }, key, site).data).to.equal(
            abi.erc1155.encodeFunctionData("transferWithAuthorization", [from, to, tokenId, amount, r, yParityAndS]),
          );
        }),
      );
    });

    it("does the same for burns", () => {
      fc.assert(
        fc.property(keys, uints, addresses, transfers, (key, chainId, contract, { to: _to, ...burn }) => {
          const { from, tokenId, amount, number } = burn;
          const digest = TypedDataEncoder.hash(monetaDomain(chainId, contract), BURN_AUTHORIZATION_TYPES, burn);
          expect(burnAuthorizationDigest(chainId, contract, burn)).to.equal(digest);
          const { r, yParityAndS } = key.sign(digest);
          const [id, quantity] = [tokenId.toString(), amount.toString()];
          const command = { kind: "burn", contract, from, tokenId: id, quantity, foreign: false } as const;
          const site = { chainId, contracts: CONTRACTS, number };
          expect(encodeWalletCall({ ...command, contractType: "ERC721" }, key, site).data).to.equal(
            abi.erc721.encodeFunctionData("burnWithAuthorization", [from, tokenId, r, yParityAndS]),
          );
          expect(encodeWalletCall({ ...command, contractType: "ERC1155" }, key, site).data).to.equal(
            abi.erc1155.encodeFunctionData("burnWithAuthorization", [from, tokenId, amount, r, yParityAndS]),
          );
        }),
      );
    });
  });

  describe("executionDigest", () => {
    it("is that of ethers for all executions", () => {
      const executions = fc.record({ relay: addresses, target: addresses, data, number: uints });
      fc.assert(
        fc.property(uints, addresses, executions, (chainId, wallet, execution) => {
          expect(executionDigest(chainId, wallet, execution)).to.equal(
            TypedDataEncoder.hash(monetaDomain(chainId, wallet), EXECUTION_TYPES, execution),
          );
        }),
      );
    });
  });

  describe("signTransaction", () => {
    const authorizations = fc
      .record({ key: keys, chainId: uints, address: addresses, nonce: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }) })
      .map(({ key, ...fields }): Authorization => ({ ...fields, signature: key.sign(hashAuthorization(fields)) }));
    const transactions = fc
      .record({
        chainId: uints,
        nonce: fc.oneof(fc.nat(300), fc.maxSafeNat()),
        to: addresses,
        data,
        gasLimit: fc.bigInt({ min: 0n, max: BigInt(MAX_TRANSACTION_GAS) }),
        maxFeePerGas: uints,
        maxPriorityFeePerGas: uints,
        authorizations: fc.array(authorizations, { maxLength: 3 }),
      })
      .map(({ maxFeePerGas: one, maxPriorityFeePerGas: other, ...rest }): OwnTransaction => {
        return { ...rest, maxFeePerGas: one > other ? one : other, maxPriorityFeePerGas: one > other ? other : one };
      });

    it("returns the bytes and the hash of ethers", () => {
      fc.assert(
        fc.property(keys, transactions, (key, transaction) => {
          expect(signTransaction(key, transaction)).to.deep.equal(signWithEthers(key, transaction));
        }),
      );
    });

    it("rejects bytes that are not hex, negative numbers, a tip above the highest fee and too much gas", () => {
      const key = new SigningKey(toBeHex(1n, 32));
      const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
      const transaction = { chainId: 1n, nonce: 0, to: TARGET, data: "0x", gasLimit: 1n, ...fees, authorizations: [] };
      for (const bad of ["0xabc", "0xzz", "abcd"])
        expect(() => signTransaction(key, { ...transaction, data: bad })).to.throw(TypeError, "not valid hex");
      expect(() => signTransaction(key, { ...transaction, gasLimit: -1n })).to.throw(RangeError, "negative");
      expect(() => signTransaction(key, { ...transaction, maxPriorityFeePerGas: 3n })).to.throw(RangeError, "higher");
      const [most, tooMuch] = [BigInt(MAX_TRANSACTION_GAS), BigInt(MAX_TRANSACTION_GAS) + 1n];
      expect(signTransaction(key, { ...transaction, gasLimit: most }).raw).to.match(/^0x02/);
      expect(() => signTransaction(key, { ...transaction, gasLimit: tooMuch })).to.throw(RangeError, "16777217");
    });
  });
});

function signWithEthers(key: SigningKey, { authorizations, ...fields }: OwnTransaction) {
  const transaction = Transaction.from(
    authorizations.length > 0 ? { ...fields, type: 4, authorizationList: [...authorizations] } : { ...fields, type: 2 },
  );
  transaction.signature = key.sign(transaction.unsignedHash);
  return { hash: transaction.hash, raw: transaction.serialized };
}
