// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC1155Collection} from "../../../contracts/ERC1155Collection.sol";
import {ERC721Collection} from "../../../contracts/ERC721Collection.sol";
import {ICollection} from "../../../contracts/interfaces/ICollection.sol";
import {TestSystem} from "../support/TestSystem.sol";

/// @title CollectionsFuzz
/// @notice Checks the rules of the collections for random values.
contract CollectionsFuzz is TestSystem {
    error Broken(string rule);

    function testFuzz_onlyTheHoldersSignatureMovesAToken(
        uint256 holderKey,
        uint256 signerKey,
        address to,
        uint256 number,
        uint256 flippedBit
    ) public {
        holderKey = _key(holderKey);
        signerKey = _key(signerKey);
        VM.assume(to != address(0) && to.code.length == 0 && number < 1 << 200);
        address holder = VM.addr(holderKey);
        ERC721Collection collection = _createErc721();
        _run(address(collection), abi.encodeCall(ERC721Collection.mint, (holder)));

        // A signature of another account, or one with a flipped bit.
        (bytes32 r, bytes32 vs) = _signTransfer(signerKey, address(collection), to, 1, 1, number);
        if (signerKey == holderKey) r ^= bytes32(1 << (flippedBit % 256));
        bytes memory data = abi.encodeCall(ERC721Collection.transferWithAuthorization, (holder, to, 1, r, vs));
        _run(_nextNumber(), address(collection), data);
        _run(number, address(collection), data);
        _require(collection.ownerOf(1) == holder, "refused");

        number = _nextNumber();
        (r, vs) = _signTransfer(holderKey, address(collection), to, 1, 1, number);
        data = abi.encodeCall(ERC721Collection.transferWithAuthorization, (holder, to, 1, r, vs));
        _run(number, address(collection), data);
        _require(collection.ownerOf(1) == to, "accepted");
    }

    function testFuzz_anAuthorizationCountsForItsAmountOnly(uint128 supply, uint256 signed, uint256 asked) public {
        VM.assume(supply > 0);
        signed = signed % supply;
        ERC1155Collection collection = _createErc1155();
        address from = _walletOf(0);
        address to = _walletOf(1);
        _run(address(collection), abi.encodeCall(ERC1155Collection.create, (from, 1, supply, "")));
        uint256 number = _nextNumber();
        (bytes32 r, bytes32 vs) = _signTransfer(_keyOf(0), address(collection), to, 1, signed, number);
        _run(number, address(collection), _transfer1155(from, to, asked, r, vs));
        _require(collection.balanceOf(to, 1) == (asked == signed ? signed : 0), "amount");
        _require(collection.balanceOf(from, 1) + collection.balanceOf(to, 1) == supply, "sum");
    }

    function testFuzz_royaltyIsItsShareRoundedDown(uint256 basisPoints, uint128 price, address recipient) public {
        ICollection collection = _createErc721();
        (bool success, ) = address(collection).call(abi.encodeCall(ICollection.setRoyalty, (recipient, basisPoints)));
        bool allowed = basisPoints <= 10_000 && (recipient != address(0) || basisPoints == 0);
        _require(success == allowed, "accepted");
        if (!success) return;
        (address to, uint256 amount) = collection.royaltyInfo(1, price);
        _require(to == recipient && amount == (uint256(price) * basisPoints) / 10_000, "royalty");
    }

    function testFuzz_theCapOnlyFalls(uint64 cap, uint8 mints, uint256 lowered, uint8 more) public {
        // Neither is a cap: the factory refuses both.
        VM.assume(cap != 0 && cap != type(uint64).max);
        (mints, more) = (mints % 8, more % 8);
        ERC721Collection collection = _createErc721WithCap(cap);
        uint256 minted = _mint(collection, mints);
        _require(minted == (mints < cap ? mints : cap), "first cap");
        uint256 current = collection.maxSupply();

        // Half of the values are near the limits.
        if (lowered % 2 == 0) lowered = lowered % 12;
        (bool success, ) = address(collection).call(abi.encodeCall(ERC721Collection.lowerMaxSupply, (lowered)));
        bool below = lowered < (current == 0 ? type(uint64).max : current);
        _require(success == (lowered != 0 && below && lowered >= minted), "lowering");
        uint256 newCap = success ? lowered : cap;
        minted = _mint(collection, more);
        _require(minted <= newCap && minted <= uint256(mints) + more, "new cap");
        _require(minted == newCap || minted == uint256(mints) + more, "room is used");
    }

    function testFuzz_supplyNeverPasses128Bits(uint256 first, uint256 second, uint256 burnt) public {
        ERC1155Collection collection = _createErc1155();
        address holder = address(this);
        uint256 supply = 0;
        _run(address(collection), abi.encodeCall(ERC1155Collection.create, (_walletOf(0), 1, first, "")));
        if (first <= type(uint128).max) supply = first;
        _require(collection.totalSupply(1) == supply && collection.exists(1) == (supply == first), "create");
        if (!collection.exists(1)) return;
        burnt = supply == 0 ? 0 : burnt % supply;
        holder = _walletOf(0);
        VM.prank(holder);
        collection.burn(holder, 1, burnt);
        supply -= burnt;
        _run(address(collection), abi.encodeCall(ERC1155Collection.mint, (holder, 1, second)));
        if (second <= type(uint128).max - supply) supply += second;
        _require(collection.totalSupply(1) == supply, "mint");
        _require(collection.balanceOf(holder, 1) == supply, "balance");
    }

    function testFuzz_anythingTheFactoryAcceptsWorks(bytes memory args, uint256 number) public {
        number = number % (1 << 200);
        address predicted = FACTORY.predictERC721(number, args);
        _run(number, address(FACTORY), abi.encodeCall(FACTORY.createERC721, (args)));
        if (predicted.code.length == 0) return;
        ERC721Collection collection = ERC721Collection(predicted);
        collection.name();
        collection.symbol();
        collection.contractURI();
        collection.owner();
        (, uint256 royalty) = collection.royaltyInfo(1, 10_000);
        _require(royalty <= 10_000, "royalty within the price");
        uint256 cap = collection.maxSupply();
        uint256 minted = _mint(collection, 1);
        if (minted == 1) collection.tokenURI(1);
        _require(cap != 0 || collection.hosted() || minted == 1 || minted == 0, "mint");
    }

    function testFuzz_packedArgumentsComeBack(
        address owner,
        uint16 basisPoints,
        address recipient,
        string memory name,
        string memory symbol,
        string memory uri
    ) public {
        VM.assume(owner != address(0) && owner != address(RELAY) && recipient != address(0));
        basisPoints = (basisPoints % 10_000) + 1;
        VM.assume(bytes(name).length + bytes(symbol).length + bytes(uri).length < 3_000);
        bytes memory args = bytes.concat(
            abi.encodePacked(uint8(6), owner, basisPoints, recipient, uint16(bytes(name).length)),
            abi.encodePacked(uint16(bytes(symbol).length), uint16(bytes(uri).length), name, symbol, uri, "!")
        );
        ERC1155Collection collection = ERC1155Collection(_createWithGas(args));
        _same(collection.name(), name);
        _same(collection.symbol(), symbol);
        _same(collection.uri(1), uri);
        _same(collection.contractURI(), "!");
        _require(collection.owner() == owner, "owner");
        (address to, uint256 amount) = collection.royaltyInfo(1, 10_000);
        _require(to == recipient && amount == basisPoints, "royalty");
    }

    function _createWithGas(bytes memory args) private returns (address) {
        return _create(FACTORY.createERC1155.selector, args);
    }

    function _mint(ERC721Collection collection, uint256 count) private returns (uint256) {
        for (uint256 i = 0; i < count; ++i) {
            _run(address(collection), abi.encodeCall(ERC721Collection.mint, (_walletOf(i))));
        }
        return collection.totalMinted();
    }

    function _transfer1155(
        address from,
        address to,
        uint256 amount,
        bytes32 r,
        bytes32 vs
    ) private pure returns (bytes memory) {
        return abi.encodeCall(ERC1155Collection.transferWithAuthorization, (from, to, 1, amount, r, vs));
    }

    function _key(uint256 seed) private pure returns (uint256) {
        return (seed % (CURVE_ORDER - 1)) + 1;
    }

    function _same(string memory a, string memory b) private pure {
        _require(keccak256(bytes(a)) == keccak256(bytes(b)), "string");
    }

    function _require(bool holds, string memory rule) private pure {
        if (!holds) revert Broken(rule);
    }
}
