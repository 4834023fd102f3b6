// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Relay} from "../../../../contracts/Relay.sol";
import {IRelay} from "../../../../contracts/interfaces/IRelay.sol";

/// @title ReentrantTarget
/// @notice A target of the relay that counts how often each number arrives. During each call it tries to run further
/// numbers, to cancel some, and to make the wallet repeat what it signed. It is an operator of the relay.
contract ReentrantTarget {
    /// @notice The calls that arrived, by request number.
    mapping(uint256 number => uint256) public runs;

    /// @notice Whether a batch or a cancellation succeeded inside a batch.
    bool public nested;

    Relay private immutable _RELAY;

    address private _wallet;
    bytes private _signed;

    constructor(Relay relay) {
        _RELAY = relay;
    }

    /// @notice Remembers a call that a wallet signed, with its number at the end.
    function learn(address wallet, bytes calldata signed) external {
        (_wallet, _signed) = (wallet, signed);
    }

    /// @notice Called by the relay, which appends the number.
    /// @param others Numbers to run and to cancel meanwhile.
    function run(uint256[2] calldata others) external {
        ++runs[uint256(bytes32(msg.data[msg.data.length - 32:]))];
        _reenter(others);
    }

    /// @notice Called by the wallet, which signed the number as a part of the data.
    function runSigned(uint256 number, uint256[2] calldata others) external {
        ++runs[number];
        _reenter(others);
    }

    function _reenter(uint256[2] calldata others) private {
        IRelay.Call[] memory calls = new IRelay.Call[](1);
        calls[0] = IRelay.Call(others[0], address(this), 100_000, abi.encodeCall(this.run, (others)));
        (bool executed, ) = address(_RELAY).call(abi.encodeCall(IRelay.execute, (calls)));
        uint256[] memory numbers = new uint256[](1);
        numbers[0] = others[1];
        (bool cancelled, ) = address(_RELAY).call(abi.encodeCall(IRelay.cancel, (numbers)));
        if (executed || cancelled) nested = true;
        // The wallet listens only to the relay.
        if (_wallet == address(0)) return;
        (bool repeated, ) = _wallet.call(_signed);
        if (repeated) nested = true;
    }
}
