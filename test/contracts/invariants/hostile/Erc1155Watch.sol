// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC1155Collection} from "../../../../contracts/ERC1155Collection.sol";
import {Watch} from "./Watch.sol";

/// @title Erc1155Watch
/// @notice The rules of an ERC1155 collection, checked after every call of every account.
contract Erc1155Watch is Watch {
    uint256 public constant IDS = 3;

    ERC1155Collection public immutable COLLECTION;

    bool private immutable _SOULBOUND;

    mapping(uint256 id => mapping(address holder => uint256)) public balanceOf;
    mapping(address holder => mapping(address operator => bool)) private _operators;
    mapping(uint256 id => uint256) private _supply;
    mapping(uint256 id => uint256) private _minted;
    mapping(uint256 id => uint256) private _burnt;
    mapping(uint256 id => bytes32) private _frozenURI;
    bool private _frozen;

    constructor(ERC1155Collection collection) Watch(collection.relay()) {
        COLLECTION = collection;
        _SOULBOUND = collection.isSoulbound();
    }

    /// @inheritdoc Watch
    function _compare(address actor) internal override {
        for (uint256 id = 0; id < IDS; ++id) _compareBalances(actor, id);
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
        _compareFrozen();
    }

    function _compareBalances(address actor, uint256 id) private {
        uint256 sum = 0;
        uint256 gained = 0;
        uint256 lost = 0;
        address receiver = address(0);
        for (uint256 i = 0; i < _accountCount(); ++i) {
            uint256 balance = COLLECTION.balanceOf(_account(i), id);
            uint256 known = balanceOf[id][_account(i)];
            sum += balance;
            if (balance <= known) continue;
            gained += balance - known;
            receiver = _account(i);
        }
        for (uint256 i = 0; i < _accountCount(); ++i) {
            address holder = _account(i);
            uint256 balance = COLLECTION.balanceOf(holder, id);
            uint256 known = balanceOf[id][holder];
            balanceOf[id][holder] = balance;
            if (balance >= known) continue;
            lost += known - balance;
            _checkLoss(actor, holder, receiver, id, known - balance);
        }

        uint256 supply = COLLECTION.totalSupply(id);
        _require(gained <= lost || COLLECTION.isMinter(actor), "only minters mint");
        _require(gained == 0 || lost == 0 || gained == lost, "what a transfer takes arrives");
        if (gained > lost) _minted[id] += gained - lost;
        else _burnt[id] += lost - gained;
        _require(supply == sum && sum == _minted[id] - _burnt[id], "balances add up to minted minus burnt");
        _require(supply <= type(uint128).max, "the supply is within its limit");
        _supply[id] = supply;
    }

    function _checkLoss(address actor, address from, address to, uint256 id, uint256 amount) private {
        _require(!_SOULBOUND || to == address(0), "soulbound tokens never move");
        if (actor == from || _operators[from][actor]) return;
        _require(actor == RELAY_ADDRESS, "only the holder and operators move and burn");
        _require(_useSignature(from, to, id, amount), "the relay moves and burns only with a signature");
    }

    function _compareFrozen() private {
        if (!COLLECTION.metadataFrozen()) {
            _require(!_frozen, "metadata stays frozen");
            return;
        }
        _frozen = true;
        for (uint256 id = 0; id < IDS; ++id) {
            // An id that is created after the freeze may bring its own URI.
            if (!COLLECTION.exists(id)) continue;
            bytes32 uri = keccak256(abi.encode(COLLECTION.contractURI(), COLLECTION.uri(id)));
            if (_frozenURI[id] == 0) _frozenURI[id] = uri;
            _require(_frozenURI[id] == uri, "a frozen URI stays");
        }
    }
}
