// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721Collection} from "../../../../contracts/ERC721Collection.sol";
import {Watch} from "./Watch.sol";

/// @title Erc721Watch
/// @notice The rules of an ERC721 collection, checked after every call of every account.
contract Erc721Watch is Watch {
    ERC721Collection public immutable COLLECTION;

    bool private immutable _SOULBOUND;

    uint256 private immutable _MOST;

    mapping(uint256 id => address) public holderOf;
    mapping(uint256 id => address) private _approvedFor;
    mapping(address holder => mapping(address operator => bool)) private _operators;
    uint256 private _minted;
    uint256 private _cap;
    bytes32 private _frozenMetadata;
    bytes32 private _frozenRoyalty;

    /// @param collection A collection with one token.
    constructor(ERC721Collection collection) Watch(collection.relay()) {
        COLLECTION = collection;
        _SOULBOUND = collection.isSoulbound();
        _MOST = collection.maxSupply();
        _cap = _MOST;
        (holderOf[1], _minted) = (collection.ownerOf(1), 1);
    }

    /// @inheritdoc Watch
    function _compare(address actor) internal override {
        uint256 minted = COLLECTION.totalMinted();
        uint256 existing = 0;
        for (uint256 id = 1; id <= _MOST; ++id) {
            address holder = _holderNow(id);
            if (holder != address(0)) ++existing;
            if (holder != holderOf[id]) _checkMove(actor, id, holder, minted);
            address approved = holder == address(0) ? address(0) : COLLECTION.getApproved(id);
            if (approved != _approvedFor[id]) _checkApproval(actor, holder, approved);
            (holderOf[id], _approvedFor[id]) = (holder, approved);
        }
        _compareOperators(actor);

        uint256 cap = COLLECTION.maxSupply();
        _require(cap <= _cap, "the cap only falls");
        _require(minted >= _minted && minted <= cap, "minted is within the cap");
        _require(COLLECTION.totalSupply() == existing, "the supply is the number of tokens");
        (_minted, _cap) = (minted, cap);
        _compareFrozen();
    }

    function _checkMove(address actor, uint256 id, address to, uint256 minted) private {
        address from = holderOf[id];
        if (from == address(0)) {
            _require(id > _minted && id <= minted, "each id is minted once");
            _require(COLLECTION.isMinter(actor), "only minters mint");
            return;
        }
        _require(!_SOULBOUND || to == address(0), "soulbound tokens never move");
        if (actor == from || actor == _approvedFor[id] || _operators[from][actor]) return;
        _require(actor == RELAY_ADDRESS, "only the holder and approved accounts move and burn");
        _require(_useSignature(from, to, id, 1), "the relay moves and burns only with a signature");
    }

    function _checkApproval(address actor, address holder, address approved) private {
        if (approved == address(0)) return;
        _require(actor == holder || _operators[holder][actor], "only the holder and operators approve");
        _require(approved != RELAY_ADDRESS && !_SOULBOUND, "nobody approves the relay, or for soulbound tokens");
    }

    function _compareOperators(address actor) private {
        for (uint256 i = 0; i < _accountCount(); ++i) {
            address holder = _account(i);
            _require(!COLLECTION.isApprovedForAll(holder, RELAY_ADDRESS), "the relay is no operator");
            for (uint256 j = 0; j < _accountCount(); ++j) {
                address operator = _account(j);
                bool allowed = COLLECTION.isApprovedForAll(holder, operator);
                if (allowed == _operators[holder][operator]) continue;
                _require(actor == holder, "only the holder appoints operators");
                _require(!_SOULBOUND, "soulbound tokens have no operators");
                _operators[holder][operator] = allowed;
            }
        }
    }

    function _compareFrozen() private {
        if (COLLECTION.metadataFrozen()) {
            bytes32 metadata = keccak256(abi.encode(COLLECTION.contractURI(), COLLECTION.tokenURI(1)));
            if (_frozenMetadata == 0) _frozenMetadata = metadata;
            _require(_frozenMetadata == metadata, "frozen metadata stays");
        } else _require(_frozenMetadata == 0, "metadata stays frozen");
        if (COLLECTION.royaltyFrozen()) {
            (address recipient, uint256 amount) = COLLECTION.royaltyInfo(1, 10_000);
            bytes32 royalty = keccak256(abi.encode(recipient, amount));
            if (_frozenRoyalty == 0) _frozenRoyalty = royalty;
            _require(_frozenRoyalty == royalty, "a frozen royalty stays");
        } else _require(_frozenRoyalty == 0, "a royalty stays frozen");
    }

    function _holderNow(uint256 id) private view returns (address holder) {
        try COLLECTION.ownerOf(id) returns (address owner) {
            holder = owner;
        } catch {
            holder = address(0);
        }
    }
}
