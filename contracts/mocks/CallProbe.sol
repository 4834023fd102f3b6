// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title CallProbe
/// @notice A target for the relay. It reports the calldata and gas that it received, or fails in a chosen way.
contract CallProbe {
    error Failure(uint256 code);

    event Seen(bytes data, uint256 gasAtStart);

    mapping(uint256 number => uint256) public runs;
    uint256 public writes;

    function record() external {
        emit Seen(msg.data, gasleft());
    }

    /// @notice Counts how often each appended number arrives.
    function count() external {
        ++runs[uint256(bytes32(msg.data[msg.data.length - 32:]))];
    }

    function fail(uint256 code) external pure {
        revert Failure(code);
    }

    function failWith(bytes calldata reason) external pure {
        bytes memory copy = reason;
        assembly ("memory-safe") {
            revert(add(copy, 0x20), mload(copy))
        }
    }

    /// @notice Fails with more revert data than the relay copies.
    function failLong() external pure {
        assembly ("memory-safe") {
            revert(mload(0x40), 300)
        }
    }

    function returnMegabyte() external pure {
        assembly ("memory-safe") {
            return(mload(0x40), 1048576)
        }
    }

    function revertMegabyte() external pure {
        assembly ("memory-safe") {
            revert(mload(0x40), 1048576)
        }
    }

    function burnAllGas() external pure {
        assembly ("memory-safe") {
            invalid()
        }
    }

    /// @notice Uses about `amount` gas, then succeeds. Fails if it gets less.
    function spend(uint256 amount) external {
        uint256 end = gasleft() - amount;
        while (gasleft() > end) ++writes;
    }
}
