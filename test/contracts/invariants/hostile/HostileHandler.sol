// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IRelay} from "../../../../contracts/interfaces/IRelay.sol";
import {TestSystem} from "../../support/TestSystem.sol";
import {ReentrantActor} from "./ReentrantActor.sol";
import {Watch} from "./Watch.sol";

/// @title HostileHandler
/// @notice Lets every account make every call: holders with and without code, the owner, and an operator of the relay
/// that sends what it likes. Holders with code also make calls while they receive a token. No call is expected to
/// succeed or to fail: {Watch} judges what changed.
abstract contract HostileHandler is TestSystem {
    /// @dev Enough for a receiver that makes calls, which are also watched.
    uint32 private constant _ITEM_GAS = 30_000_000;

    uint256 private constant _ACTORS = 3;

    struct Signature {
        bytes data;
        uint256 number;
    }

    Watch internal _watch;
    ReentrantActor[_ACTORS] private _actors;
    Signature[] private _signatures;

    /// @notice Takes what the test created: all of it together exceeds the code that one creation may carry.
    function begin(Watch watch, ReentrantActor[_ACTORS] calldata actors) external {
        if (address(_watch) != address(0)) return;
        _watch = watch;
        _actors = actors;
        for (uint256 i = 0; i < _ACTORS; ++i) {
            watch.add(address(actors[i]));
            // Operators of the relay: what stops them must not be a missing right to send batches.
            RELAY.setOperator(address(actors[i]), true);
        }
        for (uint256 i = 0; i < WALLETS; ++i) watch.add(_walletOf(i));
        watch.compare();
    }

    /// @notice The service sends a batch: mints, signed transfers, and calls that it must not be able to make.
    function batch(uint256[3] calldata seeds, bool signed) external {
        _watch.start(address(RELAY));
        IRelay.Call[] memory items = new IRelay.Call[](6);
        for (uint256 i = 0; i < 3; ++i) {
            items[2 * i] = _item(seeds[i], signed && i == 0);
            items[2 * i + 1] = IRelay.Call(
                _nextNumber(),
                address(_watch),
                _ITEM_GAS,
                abi.encodeCall(Watch.compare, ())
            );
        }
        RELAY.execute(items);
        _watch.finish();
    }

    /// @notice An account makes a call: a holder, or the relay's owner, who owns the collection at first.
    function act(uint256 account, uint256 seed) external {
        _act(account, address(0), seed);
    }

    /// @notice A holder does something with a token: most likely its own.
    function useToken(uint256 seed) external {
        _act(seed, _holderOf(seed), seed >> 8);
    }

    /// @notice A holder with code plans a call for the next time when it receives a token.
    function plan(uint256 actor, uint256 seed) external {
        (address target, bytes memory data) = _anyCall(seed);
        _actors[actor % _ACTORS].plan(target, data);
    }

    /// @notice A wallet signs a transfer. The service delivers it whenever it likes, as often as it likes.
    function sign(uint256 signer, uint256 seed) external {
        (bytes memory data, uint256 number) = _signed(signer % WALLETS, seed);
        if (data.length != 0) _signatures.push(Signature(data, number));
    }

    /// @notice Describes the first forbidden change.
    function fault() external view returns (string memory) {
        return _watch.fault();
    }

    /// @dev Returns a call of the collection, with arguments from the seed.
    function _collectionCall(uint256 seed) internal view virtual returns (bytes memory);

    /// @dev Returns a mint by the service.
    function _mintCall(uint256 seed) internal view virtual returns (bytes memory);

    /// @dev Returns a transfer that a wallet signed, with its number; no data if there is nothing to sign.
    function _signed(uint256 signer, uint256 seed) internal virtual returns (bytes memory data, uint256 number);

    /// @dev Returns a holder of the token that {_collectionCall} chooses for the seed `seed >> 8`.
    function _holderOf(uint256 seed) internal view virtual returns (address);

    function _collection() internal view virtual returns (address);

    /// @dev Returns one of the accounts with and without code.
    function _accountOf(uint256 seed) internal view returns (address) {
        seed %= _ACTORS + WALLETS;
        return seed < _ACTORS ? address(_actors[seed]) : _walletOf(seed);
    }

    function _act(uint256 seed, address account, uint256 callSeed) private {
        (address target, bytes memory data) = _anyCall(callSeed);
        if (account == address(0)) account = seed % 4 == 0 ? address(this) : _accountOf(seed / 4);
        for (uint256 i = 0; i < _ACTORS; ++i) {
            if (address(_actors[i]) == account) return _actors[i].act(target, data);
        }
        // A token may belong to an account that never acts.
        if (account.code.length != 0 && account != address(this)) return;
        _watch.start(target == address(RELAY) ? target : account);
        VM.prank(account);
        (bool success, ) = target.call(data);
        success;
        _watch.finish();
    }

    /// @dev Returns a call of the collection in most cases, otherwise one of the relay.
    function _anyCall(uint256 seed) private view returns (address target, bytes memory data) {
        uint256 kind = (seed >> 240) % 12;
        if (kind > 1) return (_collection(), _collectionCall(seed));
        uint256 last = _signatures.length;
        if (kind == 0 && last != 0) {
            uint256[] memory numbers = new uint256[](1);
            numbers[0] = _signatures[last - 1].number;
            return (address(RELAY), abi.encodeCall(IRelay.cancel, (numbers)));
        }
        IRelay.Call[] memory items = new IRelay.Call[](1);
        // The number of a signature that was perhaps delivered, or any.
        items[0] =
            last != 0
                ? IRelay.Call(_signatures[seed % last].number, _collection(), _ITEM_GAS, _signatures[seed % last].data)
                : IRelay.Call(seed | (1 << 255), _collection(), _ITEM_GAS, _mintCall(seed));
        return (address(RELAY), abi.encodeCall(IRelay.execute, (items)));
    }

    function _item(uint256 seed, bool signed) private returns (IRelay.Call memory) {
        if (signed && _signatures.length != 0) {
            Signature memory old = _signatures[seed % _signatures.length];
            // Its own number, or another one.
            uint256 number = (seed >> 128) % 3 == 0 ? _nextNumber() : old.number;
            return IRelay.Call(number, _collection(), _ITEM_GAS, old.data);
        }
        bytes memory data = (seed >> 250) % 3 == 0 ? _collectionCall(seed) : _mintCall(seed);
        return IRelay.Call(_nextNumber(), _collection(), _ITEM_GAS, data);
    }
}
