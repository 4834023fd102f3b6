// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CompactERC721Collection} from "../CompactERC721Collection.sol";

/// @title HoldersModel
/// @notice A compact collection beside a model of it: plain mappings of owners and balances. It makes random mints,
/// transfers and burns in both and compares them. The hash of a holder has as many bits as the mask leaves.
contract HoldersModel is CompactERC721Collection {
    uint256 private constant _ACCOUNTS = 40;
    uint256 private constant _IDS = 64;
    bytes32 private constant _HOLDERS_SLOT = bytes32(uint256(19));

    uint256 private immutable _MASK;

    mapping(uint256 id => address) private _modelOwners;
    mapping(address account => uint256) private _modelBalances;
    mapping(address account => uint256) private _keys;

    /// @notice Operations that were made, by kind: mints, transfers, burns, transfers to the owner itself.
    uint256[4] public made;

    error Differs(string what, uint256 id, address account);

    constructor(address relay_, uint256 mask) CompactERC721Collection(relay_) {
        _MASK = mask;
    }

    /// @notice Makes random operations and compares what each of them touched, then everything.
    function play(uint256 seed, uint256 steps) external {
        for (uint256 i = 0; i < steps; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            _step(seed);
        }
        compareAll();
    }

    /// @notice Mints one token for each of many new holders.
    /// @return plain How many of them have no key.
    function mintMany(uint256 first, uint256 count) external returns (uint256 plain) {
        for (uint256 i = first; i < first + count; ++i) {
            address to = accountOf(i);
            _mint(to, i);
            if (ownerOf(i) != to || balanceOf(to) != 1) revert Differs("mint", i, to);
            if (keyOf(to) == type(uint32).max) ++plain;
        }
    }

    function increaseBalance(address account, uint128 value) external pure {
        _increaseBalance(account, value);
    }

    /// @notice Mints or moves a token without any check. Zero as `to` burns it.
    function put(address to, uint256 id) external {
        _update(to, id, address(0));
    }

    function compareAll() public view {
        uint256 existing = 0;
        for (uint256 id = 0; id < _IDS; ++id) {
            if (_ownerOf(id) != _modelOwners[id]) revert Differs("owner", id, _modelOwners[id]);
            if (_ownerOf(id) != address(0)) ++existing;
        }
        uint256 sum = 0;
        for (uint256 i = 0; i < _ACCOUNTS; ++i) {
            address account = accountOf(i);
            uint256 balance = balanceOf(account);
            if (balance != _modelBalances[account]) revert Differs("balance", 0, account);
            sum += balance;
        }
        if (sum != existing) revert Differs("sum of balances", sum, address(0));
    }

    /// @notice Returns the key of a holder: that of its token, from the owner's word.
    function keyOf(address account) public view returns (uint256) {
        uint256 pieces = _hashOf(account);
        for (uint256 i = 0; i < 4; ++i) {
            uint256 key = (uint64(pieces >> (64 * i)) % (type(uint32).max - 1)) + 1;
            uint256 word;
            bytes32 slot = keccak256(abi.encode(key, _HOLDERS_SLOT));
            assembly ("memory-safe") {
                word := sload(slot)
            }
            if (address(uint160(word)) == account) return key;
        }
        return type(uint32).max;
    }

    function accountOf(uint256 index) public pure returns (address) {
        return address(uint160(uint256(keccak256(abi.encode("holder", index)))));
    }

    function _hashOf(address holder) internal view override returns (uint256) {
        return super._hashOf(holder) & _MASK;
    }

    function _step(uint256 seed) private {
        uint256 id = seed % _IDS;
        address from = _modelOwners[id];
        // One in five is a burn, one in five a transfer to the owner itself.
        uint256 kind = (seed >> 64) % 5;
        address to =
            kind == 0
                ? address(0)
                : kind == 1
                    ? from
                    : accountOf((seed >> 128) % _ACCOUNTS);
        if (from == address(0) && to == address(0)) return;
        ++made[
            from == address(0)
                ? 0
                : to == address(0)
                    ? 2
                    : to == from
                        ? 3
                        : 1
        ];
        _update(to, id, address(0));
        if (from != address(0)) --_modelBalances[from];
        if (to != address(0)) ++_modelBalances[to];
        _modelOwners[id] = to;
        if (_ownerOf(id) != to) revert Differs("owner after", id, to);
        if (from != address(0)) _check(from);
        if (to != address(0)) _check(to);
    }

    /// @dev The balance is that of the model, and the key never changes.
    function _check(address account) private {
        if (balanceOf(account) != _modelBalances[account]) revert Differs("balance after", 0, account);
        uint256 key = keyOf(account);
        if (_keys[account] == 0) _keys[account] = key;
        else if (_keys[account] != key) revert Differs("key", key, account);
    }
}
