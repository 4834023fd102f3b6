// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title RequestNumber
/// @notice Reads the request number that the relay appended to the calldata. Call it only after a check that the caller
/// is the relay.
library RequestNumber {
    /// @dev The relay always appends 32 bytes, so the last word of the calldata is the number.
    function fromCalldata() internal pure returns (uint256) {
        return uint256(bytes32(msg.data[msg.data.length - 32:]));
    }
}
