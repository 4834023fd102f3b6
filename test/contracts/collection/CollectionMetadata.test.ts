import { expect } from "chai";
import { type ContractTransactionResponse, MaxUint256 } from "ethers";

import type { ICollection } from "../../../types/ethers-contracts/index.js";
import { ethers, HOSTED_BASE_URI, item, networkHelpers, run } from "../support/deploy.ts";
import { emits, expectFailure, reverts } from "../support/expect-failure.ts";
import { KINDS } from "../support/kinds.ts";
import { CHAIN_ID } from "../support/sign.ts";

for (const { kind, deploy } of KINDS) {
  describe(`${kind}: metadata`, () => {
    const setUp = () => networkHelpers.loadFixture(deploy);
    const tokenUri = async (collection: ICollection) =>
      kind === "ERC1155Collection"
        ? (await ethers.getContractAt(kind, await collection.getAddress())).uri(1n)
        : (await ethers.getContractAt("ERC721Collection", await collection.getAddress())).tokenURI(1n);

    const isErc721 = kind !== "ERC1155Collection";
    /** The events of the token standard. */
    const events = (collection: ICollection) =>
      new ethers.BaseContract(
        collection.target,
        [
          "event MetadataUpdate(uint256 _tokenId)",
          "event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId)",
          "event URI(string value, uint256 indexed id)",
        ],
        ethers.provider,
      );
    /** The ids of all events `URI` of a transaction. Fails if an event of the collection is another one. */
    const announced = async (collection: ICollection, sent: Promise<ContractTransactionResponse>) => {
      const logs = (await (await sent).wait())!.logs.filter((log) => log.address === collection.target);
      const found = logs.map((log) => events(collection).interface.parseLog(log));
      expect(found.every((event) => event?.name === "URI")).to.equal(true);
      for (const event of found) expect(event?.args["value"]).to.equal(await tokenUri(collection));
      return found.map((event) => event?.args["id"] as bigint);
    };

    it("contractURI: starts with the relay's hosted base if hosted, else it is the URI of the creation", async () => {
      const { hosted, selfHosted, relay, admin } = await setUp();
      const suffix = `${CHAIN_ID}/${await hosted.getAddress()}`;
      expect([await hosted.hosted(), await selfHosted.hosted()]).to.deep.equal([true, false]);
      expect(await hosted.contractURI()).to.equal(`${HOSTED_BASE_URI}${suffix}`);
      await relay.connect(admin).setHostedBaseURI("https://moved.example/m/");
      expect(await hosted.contractURI()).to.equal(`https://moved.example/m/${suffix}`);
      expect(await selfHosted.contractURI()).to.equal("https://app.example/collection.json");
    });

    it("setContractURI and setBaseURI: replace the URIs and announce it, for the owner alone", async () => {
      const { hosted, relay, admin, stranger } = await setUp();
      for (const uri of ["ipfs://collection", ""]) {
        await emits(hosted.connect(admin).setContractURI(uri), hosted, "ContractURIUpdated");
        expect(await hosted.contractURI()).to.equal(uri);
      }
      const tx = hosted.connect(admin).setBaseURI("ipfs://base/");
      await emits(tx, hosted, "BaseURIUpdated", "ipfs://base/");
      if (isErc721) await emits(tx, events(hosted), "BatchMetadataUpdate", 0n, MaxUint256);
      else expect((await (await tx).wait())!.logs.length).to.equal(1);
      for (const setter of ["setBaseURI", "setContractURI"] as const) {
        const attempt = hosted.connect(stranger)[setter]("x");
        await reverts(attempt, hosted, "OwnableUnauthorizedAccount", stranger.address);
        const call = await item(hosted, setter, "x");
        await expectFailure(relay, call, hosted, "OwnableUnauthorizedAccount", relay.target);
      }
    });

    it("announceMetadataUpdate: emits one token or a range, for the owner and the service", async () => {
      const { hosted, relay, admin } = await setUp();
      await reverts(hosted.connect(admin).announceMetadataUpdate(4n, 3n), hosted, "CollectionInvalidRange", 4n, 3n);
      const one = hosted.connect(admin).announceMetadataUpdate(3n, 3n);
      const range = run(relay, await item(hosted, "announceMetadataUpdate", 2n, 9n));
      if (isErc721) {
        await emits(one, events(hosted), "MetadataUpdate", 3n);
        await emits(range, events(hosted), "BatchMetadataUpdate", 2n, 9n);
        return;
      }
      // ERC-1155 has an event for one id each, and ERC-4906 is not for it.
      expect(await announced(hosted, one)).to.deep.equal([3n]);
      expect(await announced(hosted, range)).to.deep.equal([2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n]);
      const last = hosted.connect(admin).announceMetadataUpdate(MaxUint256, MaxUint256);
      expect(await announced(hosted, last)).to.deep.equal([MaxUint256]);
    });

    it("announceContractURIUpdate: emits ContractURIUpdated, for the owner and the service", async () => {
      const { hosted, relay, admin } = await setUp();
      await emits(hosted.connect(admin).announceContractURIUpdate(), hosted, "ContractURIUpdated");
      await emits(run(relay, await item(hosted, "announceContractURIUpdate")), hosted, "ContractURIUpdated");
    });

    it("announcements and freezes: are refused to a stranger, and to the service if the collection has its own owner", async () => {
      const { hosted, owned, relay, admin, alice, stranger } = await setUp();
      const calls = [
        ["announceMetadataUpdate", 1n, 1n],
        ["announceContractURIUpdate"],
        ["freezeMetadata"],
        ["freezeMetadataAt", "ipfs://x/", "ipfs://x/collection.json"],
      ] as const;
      for (const [fragment, ...args] of calls) {
        const { target: to, data } = await item(hosted, fragment, ...args);
        const attempt = stranger.sendTransaction({ to, data });
        await reverts(attempt, hosted, "CollectionUnauthorizedSteward", stranger.address);
      }
      // One has it from its creation, the other one later.
      await hosted.connect(admin).transferOwnership(alice.address);
      await hosted.connect(alice).acceptOwnership();
      for (const collection of [hosted, owned]) {
        for (const [fragment, ...args] of calls) {
          const call = await item(collection, fragment, ...args);
          await expectFailure(relay, call, collection, "CollectionUnauthorizedSteward", relay.target);
        }
      }
      const update = isErc721 ? "MetadataUpdate" : "URI";
      await expect(hosted.connect(alice).announceMetadataUpdate(1n, 1n)).to.emit(events(hosted), update);
    });

    it("freezeMetadata: keeps hosted URIs, those that the owner set, and those of a self-hosted collection", async () => {
      const { hosted, selfHosted, owned, owner, relay, admin } = await setUp();
      const before = await hosted.contractURI();
      await emits(run(relay, await item(hosted, "freezeMetadata")), hosted, "MetadataFrozen");
      expect(await hosted.metadataFrozen()).to.equal(true);
      await relay.connect(admin).setHostedBaseURI("https://moved.example/");
      expect(await hosted.contractURI()).to.equal(before);
      await owned.connect(owner).setContractURI("ipfs://mine");
      await owned.connect(owner).freezeMetadata();
      await selfHosted.connect(admin).freezeMetadata();
      expect(await owned.contractURI()).to.equal("ipfs://mine");
      expect(await selfHosted.contractURI()).to.equal("https://app.example/collection.json");
      const frozen = hosted.connect(admin);
      for (const attempt of [
        () => frozen.setBaseURI("x"),
        () => frozen.setContractURI("x"),
        () => frozen.announceMetadataUpdate(1n, 1n),
        () => frozen.announceContractURIUpdate(),
        () => frozen.freezeMetadata(),
        () => frozen.freezeMetadataAt("x", "x"),
      ]) {
        await reverts(attempt(), hosted, "CollectionMetadataFrozen");
      }
    });

    it("freezeMetadataAt: freezes a hosted collection's URIs at fixed content, for the service", async () => {
      const base = isErc721 ? "ipfs://cid/" : "ipfs://cid/{id}";
      const { hosted, relay, admin, mint, alice } = await setUp();
      await run(relay, await mint(hosted, alice.address));
      const frozen = run(relay, await item(hosted, "freezeMetadataAt", base, "ipfs://cid/collection.json"));
      await emits(frozen, hosted, "BaseURIUpdated", base);
      if (isErc721) await emits(frozen, events(hosted), "BatchMetadataUpdate", 0n, MaxUint256);
      await emits(frozen, hosted, "ContractURIUpdated");
      await emits(frozen, hosted, "MetadataFrozen");
      expect(await hosted.metadataFrozen()).to.equal(true);
      await relay.connect(admin).setHostedBaseURI("https://moved.example/");
      expect(await hosted.contractURI()).to.equal("ipfs://cid/collection.json");
      expect(await tokenUri(hosted)).to.equal(isErc721 ? "ipfs://cid/1" : base);
      await reverts(hosted.connect(admin).setBaseURI("x"), hosted, "CollectionMetadataFrozen");
    });

    it("freezeMetadataAt: fails if the owner set a URI or the collection is self-hosted", async () => {
      const { selfHosted, admin } = await setUp();
      for (const set of ["setBaseURI", "setContractURI"] as const) {
        const { hosted } = await setUp();
        await hosted.connect(admin)[set]("ipfs://mine");
        await reverts(hosted.connect(admin).freezeMetadataAt("x", "x"), hosted, "CollectionNotHosted");
      }
      await reverts(selfHosted.connect(admin).freezeMetadataAt("x", "x"), selfHosted, "CollectionNotHosted");
    });
  });
}
