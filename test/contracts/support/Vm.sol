// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Vm
/// @notice The cheat codes of the test runner that these tests use.
interface Vm {
    function addr(uint256 privateKey) external pure returns (address);

    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);

    function etch(address account, bytes calldata code) external;

    function prank(address sender) external;

    function assume(bool condition) external pure;
}
